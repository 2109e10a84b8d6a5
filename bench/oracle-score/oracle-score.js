// npm run oracle-score [-- <number of changes> [<operation>]]: how many changes to the reference's responses the suite notices.
import { createJiti } from 'jiti'
import { wholeNumber } from '../whole-number.js'

const [count = '1000', operation] = process.argv.slice(2)
const changes = wholeNumber(count, 'npm run oracle-score [-- <number of changes> [<operation>]]')
const jiti = createJiti(import.meta.url)
const { printScore } = await jiti.import('./print-score.ts')
await printScore(changes, operation)
