/** The rules about clients, for somebody's own tests. */
import { expect, test } from 'vitest'
import { type ClientExchange, judgeClient } from '../../library/index.ts'
import { targetFile } from '../../reference/server.ts'
import { granted, har } from '../check/har.ts'

const baseUrl = 'http://127.0.0.1:8080'
const { expired, full } = targetFile.keys as { expired: string; full: string }
const headers = { authorization: `Bearer ${full}`, 'content-type': 'application/json' }
const list: ClientExchange = {
  ...{
    method: 'GET',
    url: `${baseUrl}/v1/files`,
    requestHeaders: headers,
    status: 200,
    body: '[]',
  },
}
const medical: ClientExchange = {
  ...{ method: 'post', url: `${baseUrl}/v1/tools/comprehend/medical`, requestHeaders: headers },
  ...{ requestBody: '{"content": ["x"], "response_type": "Entities"}', status: 200, body: '{}' },
}

test('exchanges are judged, in words and as data', () => {
  const { exit, findings } = judgeClient([list, medical])
  expect(exit).toEqual({ code: 1, because: '1 request did not keep the interface' })
  expect(findings).toMatchObject([
    {
      ...{ kind: 'fault', request: 2, operation: 'medical.comprehend', count: 1 },
      fault: { rule: 'member', at: '/content' },
      ...{ expected: '/content is of type string (§2.8)', received: 'array ["x"]' },
    },
  ])
  expect(JSON.stringify(findings)).not.toContain(full)
})

test('a HAR is judged as check judges it', () => {
  const { exit, operations } = judgeClient(har(...Object.values(granted)))
  expect(exit.code).toBe(0)
  expect(operations).toHaveLength(17)
})

test('what the reference refuses is wrong, unless the key is there to be refused', () => {
  const refused = { ...list, status: 401, body: '{"tpe": "BadCredentials"}' }
  expect(judgeClient([refused]).exit.code).toBe(0)
  expect(judgeClient([refused], { reference: true }).exit.code).toBe(1)
  const asked = { ...refused, requestHeaders: { authorization: `Bearer ${expired}` } }
  expect(judgeClient([asked], { reference: true }).exit.code).toBe(0)
})

test('pauses are judged if the exchanges say when they were', () => {
  const limited = { ...list, status: 429 }
  expect(judgeClient([limited, list]).findings).toEqual([])
  const at = (startedAt: number) => ({ startedAt, durationMs: 2 })
  const timed = [
    { ...list, ...at(1003) },
    { ...limited, ...at(1000) },
  ]
  expect(judgeClient(timed).findings).toMatchObject([{ fault: { rule: 'waiting' } }])
})

test('what is no traffic, and no option, is said in a sentence', () => {
  expect(() => judgeClient({} as never)).toThrow('the traffic: give a HAR, or a list of exchanges')
  expect(() => judgeClient([{ method: 'GET', url: '/v1/files' }])).toThrow(
    'the traffic: exchange 0: give method and url, the whole address',
  )
  expect(() => judgeClient([list, null as never])).toThrow(
    'the traffic: exchange 1: give method and url, the whole address',
  )
  expect(() => judgeClient([], { baseURL: baseUrl } as never)).toThrow('did you mean baseUrl?')
})
