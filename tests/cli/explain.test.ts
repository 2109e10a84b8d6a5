import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pc from 'picocolors'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { explanation } from '../../cli/explain.ts'
import { laidOut } from '../../reporters/terminal/lines.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { idMeant } from '../../harness/target/nearest.ts'
import { folder, readReport, targetFile } from './conform.ts'
import { failure } from '../gates/results.ts'
import { conform } from './in-process.ts'
import { reference } from './reference.ts'

const ids: readonly string[] = catalogue.map(({ id }) => id)

describe('explain', () => {
  test('says what is sent, what passes and why, and what to declare', async () => {
    const { code, stderr, stdout } = await conform('explain jobs.create/404-unknown-application')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('jobs.create/404-unknown-application  must  §4.2, §7.3\n')
    expect(stdout).toContain(
      '/v1/applications/{application_id}/jobs with a valid request, but an unknown application_id',
    )
    expect(stdout).toMatch(
      /\nThe difference from the valid request\n {2}- POST \/v1\/applications\/(\S+)\/jobs\n {2}\+ POST \/v1\/applications\/(?!\1)\S+\/jobs\n {4}content-type: application\/json\n/,
    )
    expect(stdout).toContain('404 ResourceNotFound.\n  With --tpe family also 404 NotFound.')
    expect(stdout).toContain('`NotFound` is only in §7.1')
    expect(stdout).toContain('\n      "application": {\n        "id": "<application id>",\n')
  })

  test.each([
    ['jobs.create/409-job-in-progress', '  POST /v1/applications/{application_id}/jobs\n'],
    ['pdf.parse/4xx-removed', '\n  {"operations": {"pdf.parse": "removed"}}\n'],
    ['chat.create/200-structured-output', '  A 2xx, and what the statement above asks for.\n'],
    ['translate.run/2xx-accepted', '  Any 2xx whose body is not an error envelope.\n'],
    ['envelope/shape', '  Nothing: it is judged on '],
    ['guardrails/400-blocked', '  The valid request of the operation that the scenario names, '],
  ])('of %s it says %j', async (id, text) => {
    expect((await conform(`explain ${id}`)).stdout).toContain(text)
  })

  test('every requirement is explained whole', async () => {
    for (const requirement of catalogue) {
      const lines = await explanation(requirement, pc.createColors(false))
      const text = laidOut(lines, Infinity).join('\n')
      expect(text, requirement.id).not.toMatch(/undefined|\[object|\n\n\n/)
      expect(
        text.match(/^(?:What (?:is|passes|the).*|Why|Judge only this)$/gm),
        requirement.id,
      ).toEqual([
        ...[
          'What passes',
          'Why',
          'What is sent',
          'What the target must declare',
          'Judge only this',
        ],
      ])
    }
  })

  test.each(['pdf.parse/*', 'pdf.parse'])('takes one id, and %s is not one', async (written) => {
    const { code, stderr } = await conform(`explain ${written}`)
    const told = `conform: explain ${written}: it takes one id, and several match; conform list 'pdf.parse/*' shows them\n`
    expect({ code, stderr }).toEqual({ code: 2, stderr: told })
  })

  test('an id that is invalid gets a near one', async () => {
    const { code, stderr } = await conform('explain jobs.crate/404-unknown-aplication')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'conform: explain jobs.crate/404-unknown-aplication: no requirement has such an id; did you mean jobs.create/404-unknown-application? (conform list shows all)\n',
    })
  })
})

test.each([
  ['jobs.create', 'jobs.create/*'],
  ['graph.create', 'graphs.create/*'],
  ['jobs.crate/*', 'jobs.create/*'],
  ['404-unknown-application', 'jobs.create/404-unknown-application'],
  ['translat.run/400-empty-txt', 'translate.run/400-empty-text'],
])('%s is near %s', (written, near) => {
  expect(idMeant(written)).toContain(`did you mean ${near}?`)
})

test('nothing is near what is like nothing', () => {
  expect(idMeant('nothing-like-that')).toBe('; conform list shows all')
})

test('list takes a pattern or an operation', async () => {
  const text = await conform('list jobs.create/409-*')
  expect(text.stdout.match(/^ {2}\S+/gm)).toEqual(
    ids.filter((id) => id.startsWith('jobs.create/409-')).map((id) => `  ${id}`),
  )
  const json = await conform('list general --json')
  expect((JSON.parse(json.stdout) as { id: string }[]).map(({ id }) => id)).toEqual(
    ids.filter((id) => id.startsWith('general/')),
  )
  expect(await conform('list nothing/*')).toMatchObject({ code: 2 })
})

test('--failed runs what failed in a report, and what was cut off, and never writes over it', async () => {
  const cwd = folder()
  const again = (args: string) => conform(args, { cwd })
  await again('--only files.list/40* --report json=before.json')
  expect((await again('--failed before.json')).stderr).toContain('nothing failed in before.json')
  const report = readReport(cwd, 'before.json')
  const [first, second] = report.requirements.filter(({ outcome }) => outcome === 'passed')
  const rerunIds = [first!.id, 'files.list/2xx-accepted']
  Object.assign(first!, { outcome: 'failed', failures: [failure({ rerunIds })] })
  Object.assign(second!, { outcome: 'not-exercised', ...leftOut('interrupted') })
  writeFileSync(join(cwd, 'before.json'), JSON.stringify(report))
  const ended = await again('--failed before.json --report json=again.json')
  expect(ended).toMatchObject({ code: 0 })
  expect(readReport(cwd, 'again.json').run.only).toEqual([...rerunIds, second!.id])
  expect(ended.stdout).toMatch(/^Left out: \d+ by --failed$/m)
  const over = await again('--failed before.json --report json=before.json')
  expect(over).toMatchObject({ code: 2 })
  expect(over.stderr).toContain('would overwrite the report of --failed')
})

test('--failed alone goes by the last run of the target, whose report has no key', async () => {
  const id = 'files.retrieve/404-unknown-file'
  const { url } = await reference({ defects: [id] })
  const [cwd, caches] = [folder(), folder()]
  const file = targetFile(cwd, url)
  const key = (JSON.parse(readFileSync(file, 'utf8')) as { keys: { full: string } }).keys.full
  const run = (args: string) => conform(args, { cwd, env: { XDG_CACHE_HOME: caches } })
  const again = `${url} -t ${file} --failed`
  expect((await run(again)).stderr).toContain('no earlier run of this target was found')
  await run(`${url} -t ${file} --only ${id} --only files.list/401-*`)
  // The address that follows is no report.
  const { stdout } = await run(`-t ${file} --failed ${url}`)
  expect(stdout).toContain(`✗ ${id}`)
  expect(stdout).toMatch(/^Left out: \d+ by --failed$/m)
  // Another target has its own, and a run that judged nothing takes the place of none.
  expect(await run('http://127.0.0.1:1 --failed')).toMatchObject({ code: 2 })
  expect(await run(`${url} -t ${file} -k wrong-key`)).toMatchObject({ code: 3 })
  expect((await run(again)).stdout).toContain(`✗ ${id}`)
  const kept = join(caches, 'ai-content-conformance')
  const texts = readdirSync(kept).map((name) => readFileSync(join(kept, name), 'utf8'))
  expect(texts).toEqual([expect.stringContaining(id)])
  expect(texts.join()).not.toContain(key)
})
