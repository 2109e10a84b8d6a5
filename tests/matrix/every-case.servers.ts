import { testAllowed, testAskedAgain, testGranted, testOthers } from './every-case.ts'

testGranted()
testOthers()
testAllowed()
testAskedAgain()
