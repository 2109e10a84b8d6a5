import { type Accusation, accusationsOf } from './judge.ts'
import { type Draw, drawn } from './draw.ts'

interface Accused extends Draw {
  readonly accusations: readonly Accusation[]
}

/** Of runs over sockets, so many at once: most of their time is waiting. */
const width = 3
/** Most accused runs that are told in full. */
const mostTold = 20

function told({ seed, accusations, variants, latencyMs, lost, onSocket }: Accused): string[] {
  return [
    `seed ${seed}${onSocket ? ', over a socket' : ''}, up to ${latencyMs} ms late, ${100 * lost} % lost: ${variants.join(' ')}`,
    ...accusations.map(({ id, why }) => `  ${id}: ${why}`),
    `  again: npm run accusation-score -- 1 --from ${seed}`,
  ]
}

/** Judges so many servers that conform, each drawn from a seed, and prints the share of those that fail anything. Exit code 1 if there is one. */
export async function printAccusations({ from, count }: { from: number; count: number }): Promise<void> {
  const started = performance.now()
  const draws = Array.from({ length: count }, (_, at) => drawn(from + at))
  const accused: Accused[] = []
  const judge = async (draw: Draw): Promise<void> => {
    const accusations = await accusationsOf(draw)
    if (accusations.length === 0) return
    accused.push({ ...draw, accusations })
    if (accused.length <= mostTold) process.stdout.write(`${told({ ...draw, accusations }).join('\n')}\n`)
  }
  // The clock of runs in this process is the whole process's: those over sockets are judged before.
  const sockets = draws.filter(({ onSocket }) => onSocket).values()
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const draw of sockets) await judge(draw)
    }),
  )
  for (const draw of draws.filter(({ onSocket }) => !onSocket)) await judge(draw)

  const on = new Set(draws.flatMap(({ variants }) => variants))
  const share = ((100 * accused.length) / count).toFixed(1)
  process.stdout.write(
    `${accused.length} of ${count} conforming servers accused (${share} %), with ${on.size} allowed differences on in some of them\n`,
  )
  process.stderr.write(`in ${Math.round((performance.now() - started) / 1000)} s\n`)
  if (accused.length > 0) process.exitCode = 1
}
