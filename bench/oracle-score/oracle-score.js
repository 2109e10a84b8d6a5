// npm run oracle-score [-- <number of changes>|all [<operation>]]: how many changes to the reference's answers the suite notices.
import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { compile } from '../compiled.js'
import { wholeNumber } from '../whole-number.js'

if (isMainThread) await main()
else await work()

async function main() {
  const [count = '1000', operation] = process.argv.slice(2)
  const usage = 'npm run oracle-score [-- <number of changes>|all [<operation>]]'
  const most = count === 'all' ? Infinity : wholeNumber(count, usage)
  const started = performance.now()
  const [judging, printing] = await compile(['bench/oracle-score/score.ts', 'bench/oracle-score/print-score.ts'])
  const parts = Math.min(availableParallelism(), most)
  const scores = await Promise.all(
    Array.from({ length: parts }, (_, part) => scoreOf(judging, { count: most, only: operation, part, parts })),
  )
  const { printScore } = await import(printing)
  printScore(scores)
  process.stderr.write(`in ${Math.round((performance.now() - started) / 1000)} s\n`)
}

/** One part in a thread of its own: the clock of its runs is the whole thread's. */
function scoreOf(judging, chosen) {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: { judging, chosen } })
    thread.on('error', reject)
    thread.on('exit', () => reject(new Error(`part ${chosen.part + 1} ended before it was done`)))
    thread.on('message', ({ done, of, score }) => {
      if (score) resolve(score)
      else process.stderr.write(`part ${chosen.part + 1}: ${done} of ${of}\n`)
    })
  })
}

async function work() {
  const { scorePart } = await import(workerData.judging)
  const score = await scorePart(workerData.chosen, (done, of) => {
    if (done % 500 === 0) parentPort.postMessage({ done, of })
  })
  parentPort.postMessage({ score })
}
