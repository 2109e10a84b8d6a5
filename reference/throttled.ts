import type { Answer } from './world/answer.ts'
import { envelope } from './world/envelope.ts'
import { countUp, type World } from './world/world.ts'

/** Every request of that number is throttled: often enough to be met by every operation of a run, seldom in a row. */
const every = 97

function answers(): Readonly<Record<string, Answer>> {
  const rate = envelope({ status: 429, tpe: 'TooManyRequests' })
  const load = envelope({ status: 503, tpe: 'ServiceUnavailable' })
  return {
    'throttled/429': rate,
    'throttled/429-seconds': { ...rate, headers: { 'retry-after': '1' } },
    'throttled/429-date': { ...rate, headers: { 'retry-after': new Date(Date.now() + 1000).toUTCString() } },
    'throttled/503': load,
    'throttled/503-seconds': { ...load, headers: { 'retry-after': '1' } },
  }
}

/** A 429 or 503 now and then, under the variants that have them. */
export function throttled(world: World): Answer | undefined {
  if (countUp(world, 'requests') % every !== 0) return undefined
  return Object.entries(answers()).find(([variant]) => world.switches.varied(variant))?.[1]
}
