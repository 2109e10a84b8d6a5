import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeProject, type Project, writeTypes } from '../vitest/project.ts'

/** The compiler and other processes are waited for, in ms. */
const patience = 180_000

let typed: Project
beforeAll(async () => {
  typed = makeProject()
  await writeTypes(typed)
}, patience)
afterAll(() => typed.remove())

/** An example beside the package as it is packed, declarations included. */
function example(name: string): Project {
  cpSync(fileURLToPath(new URL(`../../examples/${name}`, import.meta.url)), join(typed.dir, name), { recursive: true })
  return typed.at(name)
}

test(
  'the strict TypeScript example compiles with no declaration skipped, under either resolution, and judges',
  { timeout: patience },
  async () => {
    const project = example('typescript')
    expect(await project.run('tsc', [])).toMatchObject({ code: 0, stdout: '' })
    const { code, stdout, stderr } = await project.run('node', ['out/judge.js'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^jobs\.create\/404-unknown-application: expected 404 ResourceNotFound .*, received /)
    expect(stdout).toMatch(/\nnon-conformant, \d+ requests, seed -?\d+\n$/)

    project.write({ 'judge.ts': wrong })
    const { stdout: told } = await project.run('tsc', [
      '--module',
      'preserve',
      '--moduleResolution',
      'bundler',
      '--noEmit',
    ])
    const lines = [...told.matchAll(/judge\.ts\((\d+),/g)].map(([, line]) => Number(line))
    expect([...new Set(lines)]).toEqual([3, 4, 5, 6])
    expect(told).toContain("''jobs.create/404-unknown-aplication'' does not exist in type")
  },
)

/** Lines 3 to 6 must not compile, the rest must. */
const wrong = `import { catalogue, defineTarget, type JudgedEvent, type RequirementId, runConformance } from 'ai-content-conformance'
import file from '../node_modules/ai-content-conformance/fixtures/reference.target.json' with { type: 'json' }
defineTarget({ scenarios: { 'jobs.create/404-unknown-aplication': {} } })
defineTarget({ operations: { 'chat.creat': 'not-served' } })
const id: RequirementId = 'jobs.create/404-unknown-aplication'
runConformance(file, { onyl: [id] })
runConformance(file, { only: ['jobs.create/*', catalogue[0]!.id] })
runConformance(JSON.parse('{}'))
export const known: RequirementId = 'jobs.create/404-unknown-application'
export const judged = (event: JudgedEvent): string => event.result.outcome
`

test('the example with node:test passes', async () => {
  const { code, stdout } = await example('node-test').run('node', [
    '--test',
    '--test-reporter=tap',
    'conformance.test.js',
  ])
  expect({ code, stdout }).toMatchObject({ code: 0 })
  expect(stdout).toMatch(/files\.retrieve\/404-unknown-file/)
  expect(stdout).toMatch(/^# fail 0$/m)
})

test('the example with vitest passes, its types hold, and its reports are written', { timeout: patience }, async () => {
  const project = example('vitest')
  expect(await project.run('tsc', [])).toMatchObject({ code: 0, stdout: '' })
  const { code, stdout, stderr } = await project.run('vitest', ['run'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('conform: Embedded reference server is ')
  const report = JSON.parse(readFileSync(join(project.dir, 'conform-report.json'), 'utf8'))
  expect(report.exit.code).toBe(0)
  expect(existsSync(join(project.dir, 'reports/conformance.html'))).toBe(true)
  expect(existsSync(join(project.dir, 'conform-report.xml'))).toBe(true)
})
