import { testAllowed, testGranted, testOthers } from './every-case.ts'

testGranted()
testOthers()
testAllowed()
