/** `check --judge-client`: the requests of a recording, by the rules by which `serve --judge-client` judges those of a client. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { entry, envelope, granted, har, type Told } from './har.ts'

const authorization = 'Bearer nobody.may.see'
const json = { name: 'Content-Type', value: 'application/json' }

/** A HAR whose requests have these headers besides. */
function sentWith(headers: readonly { name: string; value: string }[], ...told: Told[]) {
  const entries = told.map(entry).map(({ request, ...rest }) => ({
    ...rest,
    request: { ...request, headers: [...request.headers, ...headers] },
  }))
  return { log: { ...har().log, entries } }
}

async function conformOn(recording: object, ...options: string[]) {
  const cwd = folder()
  writeFileSync(join(cwd, 'x.har'), JSON.stringify(recording))
  return conform(['check', 'x.har', ...options], { cwd })
}

async function judged(recording: object, ...options: string[]) {
  const { code, stderr, stdout } = await conformOn(recording, ...options)
  expect(stderr).toBe('')
  return {
    code,
    told: [...stdout.matchAll(/^[✗!] (.*)$/gm)].map(([, line]) => line),
    client: /^the client: (.*)$/m.exec(stdout)?.[1],
    last: stdout.trimEnd().split('\n').at(-1),
    stdout,
  }
}

const list = { to: '/v1/files', answers: [], authorization }
const medical: Told = {
  ...granted['medical.comprehend/200-entities']!,
  ...{ sends: { content: ['a'], response_type: 'Entities' }, authorization },
}

test('a request that does not keep the interface decides, if that is asked for', async () => {
  const recording = sentWith([json], list, medical)
  expect(await judged(recording, '--judge-client')).toMatchObject({
    code: 1,
    told: ['medical.comprehend  member'],
    last: 'exit 1: the client: 1 request did not keep the interface',
  })
  const junit = await conformOn(recording, '--judge-client', '--report', 'junit=-')
  expect(junit.stdout.match(/<error /g)).toHaveLength(1)
  expect(junit.stdout).toContain('expected /content is of type string (§2.8), received array')
  expect(await judged(recording)).toMatchObject({ code: 0, told: [], client: undefined })
})

test('a refusal by a server of that kind is a remark', async () => {
  const refused = { ...list, to: '/v1/translate', sends: { text: '' } }
  const answers = envelope('InvalidInputParameters')
  const recording = sentWith([json], list, { ...refused, status: 400, answers })
  expect(await judged(recording, '--judge-client')).toMatchObject({
    code: 0,
    told: ['translate.run  remark: refused'],
    client: 'no request was wrong by itself; 1 remark',
  })
})

test('what a recorder leaves out is no fault of the client', async () => {
  const { authorization: _, ...noKey } = list
  // No headers at all; keys removed everywhere; our own way to write a key.
  for (const recording of [
    har(noKey, granted['medical.comprehend/200-entities']!),
    sentWith([json], noKey, noKey),
    har({ ...list, authorization: 'Bearer $CONFORM_API_KEY' }),
  ])
    expect(await judged(recording, '--judge-client')).toMatchObject({
      ...{ code: 0, told: [], client: 'every request kept the interface' },
    })
  expect(await judged(sentWith([json], list, noKey), '--judge-client')).toMatchObject({
    ...{ code: 1, told: ['files.list  authorization'] },
  })
})

test('pauses are those between the times of the recording', async () => {
  const at = (ms: number) => ({
    startedDateTime: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(),
  })
  const answers = envelope('QuotaExceeded')
  const limited = { ...entry({ ...list, status: 429, answers }), time: 10.4, ...at(0) }
  const recording = (after: number) => ({
    log: { ...har().log, entries: [limited, { ...entry(list), ...at(after) }] },
  })
  expect(await judged(recording(10), '--judge-client')).toMatchObject({
    ...{ code: 1, told: ['files.list  waiting'] },
  })
  expect(await judged(recording(200), '--judge-client')).toMatchObject({ code: 0, told: [] })
})
