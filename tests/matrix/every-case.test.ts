import { testAllowed, testAskedAgain, testGranted, testOthers } from './every-case.ts'

// `npm run test:servers` has all rounds, and the other answers to all operations.
testGranted(1)
testOthers(['files.retrieve'])
testAllowed(['files.retrieve'])
testAskedAgain()
