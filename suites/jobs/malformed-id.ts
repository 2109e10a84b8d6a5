import fc from 'fast-check'
import { any, refused } from '../../harness/checks/conditions.ts'
import { condition } from '../../harness/checks/refusals.ts'
import type { Probe } from '../../harness/engine/probe.ts'

/** No uuid in any spelling, hyphens left out included. */
function isNoUuid(id: string): boolean {
  return !/^[0-9a-f]{32}$/i.test(id.replaceAll('-', ''))
}

const named = ['not-a-uuid', '0', '1234567890', 'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz', 'x'.repeat(64)]

const generated = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).filter(isNoUuid)

const told = (id: string) => ({ what: 'with an id that is not a uuid', value: id })

const withId = (probe: Probe, id: string): Probe => refused({ ...probe, params: { job_id: id } })

const invented = any(named.map(told), generated.map(told), withId)

/** By how many characters an existing id is cut: a server may find ids by their beginning. */
const cuts = [1, 4, 8] as const

/** 1 to 64 letters, digits, `-` and `_` that are no uuid, and an existing id that is cut. */
export const malformedId = condition(async (refusal) => {
  const { valid, judge } = refusal
  for (const cut of cuts) {
    const probe = await valid()
    const id = (probe.params['job_id'] ?? '').slice(0, -cut)
    if (id !== '') await judge(withId(probe, id), `with an existing id that is cut by ${cut}`)
  }
  await invented.bringAbout(refusal)
})
