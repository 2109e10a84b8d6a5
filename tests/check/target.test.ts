import { expect, test } from 'vitest'
import { granted, har, type Told } from './har.ts'
import { check, failedIds, inFile } from './recording.ts'

const broken = (to: string): Told => ({ ...granted['pdf.parse/200-text']!, to, answers: {} })
const targetFile = (file: Record<string, unknown>) =>
  inFile(JSON.stringify(file), `${crypto.randomUUID()}.json`)
const outcomeOf = async (told: Told[], file: Record<string, unknown>, id: string) =>
  (await check(har(...told), { target: targetFile(file) })).requirements.find(
    (row) => row.id === id,
  )

const here = 'https://here.example.com/v1/tools/pdf-parser/f'
const there = 'https://there.example.com/eu/v1/tools/pdf-parser/f'

test('the base URL is the one given, else the target file’s, else where most operations are', async () => {
  const recorded = har(broken(here), broken(here), broken(there))
  const requests = async (options: Parameters<typeof check>[1]) => {
    const { target, run } = await check(recorded, options)
    return [target.baseUrl, run.requests]
  }
  const target = targetFile({ baseUrl: 'https://there.example.com/eu/' })
  expect(await requests({})).toEqual(['https://here.example.com', 2])
  expect(await requests({ target })).toEqual(['https://there.example.com/eu', 1])
  expect(await requests({ target, baseUrl: 'HTTPS://HERE.example.com:443/' })).toEqual([
    'https://here.example.com',
    2,
  ])
  expect(await requests({ baseUrl: 'https://HERE.example.com/v1' })).toEqual(
    await requests({ baseUrl: 'https://here.example.com' }),
  )
  const doubled = targetFile({ baseUrl: 'https://there.example.com/eu/v1/' })
  expect(await requests({ target: doubled })).toEqual(['https://there.example.com/eu', 1])
  expect(await requests({ baseUrl: 'https://here.example.com/eu' })).toEqual([
    'https://here.example.com/eu',
    0,
  ])
})

test('of two that could be meant as well, the user says which', async () => {
  await expect(check(har(broken(here), broken(there)))).rejects.toThrow(
    /contains as many requests of the interface to https:\/\/here\.example\.com as to https:\/\/there\.example\.com\/eu; choose with --base-url$/,
  )
  await expect(
    check(har(broken(here)), { baseUrl: 'https://user:secret@here.example.com' }),
  ).rejects.toThrow(/^--base-url: must be an http or https URL/)
})

test('what the target does not serve is not applicable, and not judged', async () => {
  const gone = {
    ...broken('/v1/tools/pdf-parser/f'),
    status: 404,
    answers: '<h1>Gone',
    type: 'text/html',
  }
  for (const [absence, reason] of [
    ['not-served', 'declared not served'],
    ['removed', 'declared removed'],
  ] as const) {
    const operations = { 'pdf.parse': absence }
    const told = [gone, granted['files.list/2xx-accepted']!]
    expect(await outcomeOf(told, { operations }, 'pdf.parse/200-text')).toMatchObject({
      outcome: 'not-applicable',
      reason,
    })
    expect(await outcomeOf(told, { operations }, 'envelope/shape')).toMatchObject({
      outcome: 'not-exercised',
    })
    expect(await outcomeOf(told, { operations }, 'envelope/content-type')).toMatchObject({
      outcome: 'not-exercised',
    })
  }
  expect(await outcomeOf([gone], {}, 'envelope/shape')).toMatchObject({ outcome: 'failed' })
})

test('what is unreachable is not applicable, for the reason declared', async () => {
  const file = { unreachable: { 'completion.create/500-*': 'no switch' } }
  expect(
    await outcomeOf([broken(here)], file, 'completion.create/500-model-overload'),
  ).toMatchObject({
    outcome: 'not-applicable',
    reason: 'declared unreachable: no switch',
  })
})

test('a declared place of response_type is the one that is read', async () => {
  const medical = {
    ...granted['medical.comprehend/200-entities']!,
    sends: { as: 'Entities' },
    answers: {},
  }
  const body = { content: 'a', as: 'Entities' }
  const operations = { 'medical.comprehend': { body, fields: { response_type: '/as' } } }
  const report = await check(har(medical), { target: targetFile({ operations }) })
  expect(failedIds(report)).toEqual(['medical.comprehend/200-entities'])
  expect(failedIds(await check(har(medical)))).toEqual([])
})

test('nothing is sent, so that keys and headers need not be at hand', async () => {
  const target = targetFile({
    name: 'Staging',
    headers: { 'x-tenant': { env: 'CHECK_NO_SUCH_VARIABLE' } },
    keys: {
      full: { env: 'CHECK_NO_SUCH_VARIABLE' },
      expired: { file: 'no-such-file' },
      restricted: { command: ['no-such-program'] },
    },
    scenarios: {
      'jobs.create/429-quota-exceeded': {
        headers: { 'x-simulate': { env: 'CHECK_NO_SUCH_VARIABLE' } },
      },
    },
  })
  expect(await check(har(broken(here)), { target })).toMatchObject({
    target: { name: 'Staging', baseUrl: 'https://here.example.com' },
    verdict: 'non-conformant',
  })
})
