// npm run oracle-score [-- <number of changes>]: how many changes to the reference's responses the suite notices.
import { createJiti } from 'jiti'

const jiti = createJiti(import.meta.url)
const { printScore } = await jiti.import('./print-score.ts')
await printScore(Number(process.argv[2] ?? 1000))
