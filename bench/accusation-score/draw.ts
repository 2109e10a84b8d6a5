import { needsSocket, variants } from '../../reference/server.ts'
import { type Random, randomFrom } from '../random.ts'

/** What a server is like, and the road to it: all drawn from a seed. */
export interface Draw {
  readonly seed: number
  readonly variants: readonly string[]
  /** Most ms that an answer takes; each takes another part of it. */
  readonly latencyMs: number
  /** Share of the requests whose connection is closed before they are answered. */
  readonly lost: number
  /** Over a socket, in real time. Such a server closes connections by a variant of its own. */
  readonly onSocket: boolean
}

/** Of these, all may be on at once: each speaks of something else. */
const combined = /^(envelope|json|requests|settling)\/|^jobs\/(fail-now|readable|texts|values|others)/

/** Of those that have the same one, a server has one at most. */
function subjectOf(variant: string): string {
  const [id] = variant.split('=')
  if (variant.includes('=')) return id as string
  if (combined.test(variant)) return variant
  if (/^jobs\/(born|instant)/.test(variant)) return 'jobs that end at once'
  return variant.split(/[/-]/)[0] as string
}

/** One of every so many runs goes over a socket. */
const socketEvery = 10

const onlyOnSockets = variants.filter(needsSocket)
const others = variants.filter((variant) => !needsSocket(variant))

function some(random: Random, names: readonly string[], share: number): string[] {
  const subjects = [...new Set(names.map(subjectOf))]
  return subjects
    .filter((subject) => random.of(`has ${subject}`) < share)
    .map((subject) =>
      random.oneOf(
        `which ${subject}`,
        names.filter((name) => subjectOf(name) === subject),
      ),
    )
}

export function drawn(seed: number): Draw {
  const random = randomFrom(seed)
  const onSocket = seed % socketEvery === 0
  const share = random.oneOf('share', [0.05, 0.15, 0.3, 0.6])
  return {
    seed,
    variants: [...some(random, others, share), ...(onSocket ? some(random, onlyOnSockets, 0.7) : [])],
    latencyMs: random.oneOf('latency', onSocket ? [0, 0, 10] : [0, 1, 20, 150]),
    lost: onSocket ? 0 : random.oneOf('lost', [0, 0, 0.01, 0.05]),
    onSocket,
  }
}
