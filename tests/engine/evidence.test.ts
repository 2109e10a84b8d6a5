import { expect, test } from 'vitest'
import { createHandlerTransport, type Handler } from '../../harness/http/handler-transport.ts'
import { judgeReference, judgeUrl } from '../matrix/judge-reference.ts'

const baseUrl = 'http://target.example'

const judge = (handle: Handler, ...only: string[]) =>
  judgeUrl(baseUrl, { transport: createHandlerTransport({ handle, baseUrl }), options: { only } })

test.each([404, 401])(
  'what is wrong with the envelope of a %i at an unknown path stands in the failure',
  async (status) => {
    const body = { tpe: 'NotFound', errors: [{ description: 'Nothing here' }], extras: null }
    const rows = ['envelope/unknown-path', 'envelope/unsupported-method']
    const { results } = await judge(() => Response.json(body, { status }), ...rows)
    const failed = results.filter(({ outcome }) => outcome === 'failed')
    expect(failed.map(({ id }) => id)).toEqual(rows)
    for (const { failures } of failed) {
      expect(failures[0]?.actual).toBe(`${status} NotFound "Nothing here", but extras must be an object, got null`)
    }
  },
)

test('a 429 with another name, to a request that is to be answered 429, is not counted as throttling', async () => {
  const asked = 'chat.create/429-quota-exceeded'
  const { results, facts } = await judgeReference({ defects: [`${asked}#tpe`] }, { options: { only: [asked] } })
  expect(results.find(({ id }) => id === asked)?.outcome).toBe('failed')
  expect(facts.throttled).toBe(0)
  const busy = Response.json({ tpe: 'TooManyRequests', errors: [], extras: {} }, { status: 429 })
  const limited = await judge(() => busy.clone(), 'files.list/2xx-accepted')
  expect(limited.facts.throttled).toBeGreaterThan(0)
})
