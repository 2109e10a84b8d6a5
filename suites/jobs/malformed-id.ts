import fc from 'fast-check'
import { any, refused } from '../../harness/checks/conditions.ts'
import type { Probe } from '../../harness/engine/probe.ts'

/** No uuid in any spelling, hyphens left out included. */
function isNoUuid(id: string): boolean {
  return !/^[0-9a-f]{32}$/i.test(id.replaceAll('-', ''))
}

const named = ['not-a-uuid', '0', '1234567890', 'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz', 'x'.repeat(64)]

const generated = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).filter(isNoUuid)

const told = (id: string) => ({ what: 'with an id that is no uuid', value: id })

const withId = (probe: Probe, id: string): Probe => refused({ ...probe, params: { job_id: id } })

/** 1 to 64 letters, digits, `-` and `_` that are no uuid; never made from an id that exists. */
export const malformedId = any(named.map(told), generated.map(told), withId)
