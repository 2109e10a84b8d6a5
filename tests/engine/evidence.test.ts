import { expect, test } from 'vitest'
import { createHandlerTransport, type Handler } from '../../harness/http/handler-transport.ts'
import { judgeUrl } from '../matrix/judge-reference.ts'

const baseUrl = 'http://target.example'

const judge = (handle: Handler, ...only: string[]) =>
  judgeUrl(baseUrl, { transport: createHandlerTransport({ handle, baseUrl }), options: { only } })

test.each([404, 401])('what is wrong with the envelope of a %i at an unknown path stands in the failure', async (status) => {
  const body = { tpe: 'NotFound', errors: [{ description: 'Nothing here' }], extras: null }
  const rows = ['envelope/unknown-path', 'envelope/unsupported-method']
  const { results } = await judge(() => Response.json(body, { status }), ...rows)
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  expect(failed.map(({ id }) => id)).toEqual(rows)
  for (const { failures } of failed) {
    expect(failures[0]?.actual).toBe(`${status} NotFound "Nothing here", but extras must be an object, got null`)
  }
})
