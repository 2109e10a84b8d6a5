import { testGranted, testOthers } from './every-case.ts'

testGranted()
testOthers()
