import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inconsistencies } from '../../harness/report/exit-code.ts'
import { UserError } from '../../harness/user-error.ts'
import { validate } from '../../schemas/validate.ts'
import { envelope, granted, har } from './har.ts'
import { check } from './recording.ts'

const recorded = har(...Object.values(granted), {
  to: '/v1/files/x',
  status: 404,
  answers: envelope('NotFound'),
})

/** Every place in a value, as the names that lead there. */
function placesOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...at, name]))]
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by
  const members = value as Record<string, unknown>
  const changed = replaced(members[name], rest, by)
  return Array.isArray(value)
    ? value.map((item: unknown, at) => (String(at) === name ? changed : item))
    : { ...members, [name]: changed }
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    undefined,
    '',
    -1,
    0,
    204,
    999,
    1e308,
    '9999-12-31T23:59:59-12:00',
    'base64',
    'http://[',
    '\ud800',
  ),
)

test('whatever stands at any place of a recording: a report that fits its schema, or one sentence', async () => {
  const places = placesOf(recorded)
  const change = fc.tuple(fc.constantFrom(...places), odd)
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let changed: unknown = recorded
      for (const [place, by] of changes) {
        try {
          changed = replaced(changed, place, by)
        } catch {
          // An earlier change took that place away.
        }
      }
      const outcome = await check(changed === undefined ? '' : changed).catch(
        (thrown: unknown) => thrown,
      )
      if (outcome instanceof UserError) {
        expect(outcome.message).not.toContain('\n')
        return
      }
      expect(validate('report', JSON.parse(JSON.stringify(outcome)))).toEqual({ valid: true })
      expect(inconsistencies(outcome as Awaited<ReturnType<typeof check>>)).toEqual([])
    }),
    { seed: 7, numRuns: 80 },
  )
})
