// npm run oracle-score [-- <number of changes>]: how many changes to the reference's responses the suite notices.
import { createJiti } from 'jiti'
import { wholeNumber } from '../whole-number.js'

const changes = wholeNumber(process.argv[2] ?? '1000', 'npm run oracle-score [-- <number of changes>]')
const jiti = createJiti(import.meta.url)
const { printScore } = await jiti.import('./print-score.ts')
await printScore(changes)
