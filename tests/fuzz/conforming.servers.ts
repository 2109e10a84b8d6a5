import { expect, test } from 'vitest'
import { needsSocket, variants } from '../../reference/server.ts'
import { fitting } from '../matrix/changed-targets.ts'
import { judgeReference } from '../matrix/judge-reference.ts'
import { type Random, randomFrom, type Network, network } from '../support/lossy-network.ts'

/** `npm run fuzz` sets more, and a seed of its own to look at one again; a run takes ten times as long as one of a fuzzed server. */
const count = Math.ceil(Number(process.env['FUZZ_RUNS'] ?? 30) / 10)
const from = Number(process.env['FUZZ_SEED'] ?? 2)

/** ms: jobs last until they can be read, and for the requests beside them. */
const pace = { jobMs: 15, slowJobMs: 1800 }

/** Variants that may all be on at once: each speaks of something else. */
const combined =
  /^(envelope|json|requests|settling)\/|^jobs\/(fail-now|readable|texts|values|others)/

function subjectOf(variant: string): string {
  if (combined.test(variant)) return variant
  if (/^jobs\/(born|instant)/.test(variant)) return 'jobs that end at once'
  return variant.split(/[/-]/)[0] as string
}

const some = variants.filter((variant) => !needsSocket(variant))

function drawVariants(random: Random): string[] {
  const share = random.oneOf('share', [0.05, 0.15, 0.3, 0.6])
  return [...new Set(some.map(subjectOf))]
    .filter((subject) => random.of(`has ${subject}`) < share)
    .map((subject) =>
      random.oneOf(
        `which ${subject}`,
        some.filter((variant) => subjectOf(variant) === subject),
      ),
    )
}

/** Judges a conforming server at the end of such a network; gives what failed, and the suite's own mistakes. */
async function accusationsOf(on: readonly string[], given: Network): Promise<string[]> {
  const { seed } = given
  const { results } = await judgeReference(
    { variants: on, ...pace },
    {
      options: { seed, nonce: `s${seed}`.slice(0, 8), refusalRuns: 5, grantedRuns: 2 },
      change: fitting(on),
      network: (transport) => network(transport, given),
    },
  )
  return results.flatMap(({ id, outcome, reason = '', failures: [first] }) => {
    if (outcome === 'failed')
      return [`${id}: ${first?.message}; expected ${first?.expected}; ${first?.actual}`]
    return reason.startsWith('a mistake of the suite:') ? [`${id}: ${reason}`] : []
  })
}

test.each(Array.from({ length: count }, (_, at) => from + at))(
  'a server that conforms, with differences, latency and losses drawn from seed %i, fails nothing',
  async (seed) => {
    const random = randomFrom(seed)
    const latencyMs = random.oneOf('latency', [0, 1, 20, 150])
    const lost = random.oneOf('lost', [0, 0, 0.01, 0.05])
    const on = drawVariants(random)
    expect(
      await accusationsOf(on, { seed, latencyMs, lost }),
      `with ${on.join(' ')}, up to ${latencyMs} ms late, ${100 * lost} % lost`,
    ).toEqual([])
  },
)
