import { testAllowed, testGranted, testOthers } from './every-case.ts'

// `npm run test:servers` has all operations, and all rounds.
testGranted(['translate.run'], 1)
testOthers(['files.retrieve'])
testAllowed(['files.retrieve'])
