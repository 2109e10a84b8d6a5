import { testGranted, testOthers } from './every-case.ts'

// `npm run test:servers` has all rounds, and the other wrong answers of all operations.
testGranted(1)
testOthers(['completion.create', 'files.retrieve'])
