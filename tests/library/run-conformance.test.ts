import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  catalogue,
  type ConformanceEvent,
  runConformance,
  type Target,
  UserError,
} from '../../library/index.ts'
import { startReference } from '../../library/reference.ts'
import { folder } from '../cli/conform.ts'
import { listen } from '../wire/servers.ts'

async function reference(): Promise<Target> {
  const server = await startReference({ jobMs: 15, slowJobMs: 150 })
  onTestFinished(() => server.close())
  return server.target
}

test('each requirement is an event, between the plan and the end, as the report has it', async () => {
  const only = ['translate.run/*', 'envelope/*']
  const target = await reference()
  const run = runConformance(target, { depth: 'quick', seed: 7, only })
  const events: ConformanceEvent[] = []
  for await (const event of run) events.push(event)
  for (const key of Object.values(target.keys!)) expect(JSON.stringify(events)).not.toContain(key)
  expect(events[0]?.kind).toBe('planned')
  expect(events.at(-1)?.kind).toBe('ended')
  const judged = events.flatMap((event) => (event.kind === 'judged' ? [event.result] : []))
  const report = await run.report
  const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)
  expect(judged.sort(byId)).toEqual([...report.requirements].sort(byId))
  expect(judged).toHaveLength(catalogue.length)
  expect(report).toMatchObject({
    summary: { must: { failed: 0 } },
    run: { seed: 7, depth: 'quick' },
    exit: { code: 0 },
  })
})

test('the report does not wait for a reader of the events, and only what is selected is sent', async () => {
  const { requirements, run } = await runConformance(await reference(), {
    only: ['files.list/2xx-accepted'],
  }).report
  const passed = requirements.filter(({ outcome }) => outcome === 'passed')
  expect(passed.map(({ id }) => id)).toEqual(['files.list/2xx-accepted'])
  expect(run.requests).toBeLessThan(5)
})

test('a signal ends the run, which says so; one that came before lets nothing be sent', async () => {
  const controller = new AbortController()
  const run = runConformance(await reference(), { signal: controller.signal })
  for await (const { kind } of run) if (kind === 'judged') controller.abort()
  const { run: facts } = await run.report
  expect(facts.interrupted).toBe(true)
  // A whole run takes more than a thousand.
  expect(facts.requests).toBeLessThan(500)

  let asked = 0
  const { url } = await listen(createServer((_, response) => (asked++, response.end())))
  const report = await runConformance(
    { baseUrl: url, keys: { full: 'a-full-key' } },
    { signal: AbortSignal.abort() },
  ).report
  expect(report).toMatchObject({ verdict: 'not-judged', run: { interrupted: true, requests: 0 } })
  expect(asked).toBe(0)
})

const target: Target = { baseUrl: 'http://127.0.0.1:1' }

test.each<[what: string, given: Target | string, options: object, sentence: string]>([
  ['a file that is not there', 'nowhere.json', {}, 'nowhere.json: does not exist'],
  [
    'an unknown member',
    { ...target, resorces: {} } as Target,
    {},
    'the target: unknown member resorces; did you mean resources?',
  ],
  ['an unknown option', target, { onyl: [] }, 'there is no option onyl; did you mean only?'],
  [
    'a pattern without a requirement',
    target,
    { only: ['jobs.craete/*'] },
    'the option only: no requirement matches jobs.craete/*; did you mean jobs.create/',
  ],
  ['no whole number', target, { seed: 1.5 }, 'the option seed: give a whole number from'],
  ['a mode that does not exist', target, { tpe: 'some' }, 'the option tpe: give exact or family'],
  [
    'a limit that does not exist',
    target,
    { limits: { concurency: 1 } },
    'the options: unknown member limits.concurency; did you mean limits.concurrency?',
  ],
])(
  '%s is a UserError of one sentence, for the report and for the events',
  async (_, given, options, sentence) => {
    const run = runConformance(given, options)
    const events = async (): Promise<void> => {
      for await (const _event of run) expect.unreachable()
    }
    for (const settled of await Promise.allSettled([run.report, events()])) {
      if (settled.status === 'fulfilled') return expect.unreachable()
      expect(settled.reason).toBeInstanceOf(UserError)
      const { message } = settled.reason as Error
      expect(message.slice(0, sentence.length)).toBe(sentence)
      expect(message).not.toContain('\n')
    }
  },
)

test('a failure is repeated with the file and the options that it needs', async () => {
  const server = await startReference({ defects: ['files.list/401-missing-credentials'] })
  onTestFinished(() => server.close())
  const file = join(folder(), 'a target.json')
  writeFileSync(file, JSON.stringify(server.target))
  const only = ['files.list/401-missing-credentials' as const]
  const lineOf = async (given: Target | string): Promise<string | undefined> => {
    const { requirements } = await runConformance(given, { only, seed: 3, runs: 2, tpe: 'family' })
      .report
    return requirements.find(({ outcome }) => outcome === 'failed')?.failures[0]?.rerun
  }
  const rest = '--runs 2 --tpe family --only files.list/401-missing-credentials --seed 3'
  expect(await lineOf(file)).toBe(`conform --target '${file}' ${rest}`)
  const written = "conform --target '<a module that exports this target>'"
  expect(await lineOf(server.target)).toBe(`${written} ${rest}`)
  const plain = { baseUrl: server.url, keys: { full: server.key } }
  expect(await lineOf(plain)).toBe(`conform ${server.url} ${rest}`)
})

test.each([
  [{ variants: ['json/spred'] }, 'the reference has no variant "json/spred"'],
  [{ defects: ['files.list/2xx-acepted'] }, 'the reference has no defect "files.list/2xx-acepted"'],
])('startReference refuses %j with one sentence', async (options, sentence) => {
  await expect(startReference(options as object)).rejects.toThrow(sentence)
})

test('startReference gives a key that its server accepts', async () => {
  const { url, key, close } = await startReference({ latency: 1 })
  onTestFinished(close)
  const { status } = await fetch(`${url}/v1/files`, { headers: { authorization: `Bearer ${key}` } })
  expect(status).toBe(200)
})
