import { expect, onTestFinished, test } from 'vitest'
import { startReference } from '../../library/reference.ts'
import { referenceKey } from '../cli/conform.ts'
import { makeProject } from '../vitest/project.ts'

/** Lines 3 to 6 must not compile, the rest must. */
const wrong = `import createClient from 'openapi-fetch'
import type { paths } from './interface.js'
const client = createClient<paths>({ baseUrl: 'http://localhost', headers: { tea: 1n } })
await client.GET('/v1/file')
await client.GET('/v1/applications/jobs/{job_id}', { params: { path: { job: 'x' } } })
await client.POST('/v1/tools/pdf-parser/{file_id}', { params: { path: { file_id: 'x' } }, body: { format: 'tea' } })
await client.GET('/v1/files')
`

const right = `import createClient from 'openapi-fetch'
import type { components, paths } from './interface.js'

const [, , baseUrl, key, application_id, topic] = process.argv as [string, string, string, string, string, string]
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } })
const jobs = '/v1/applications/{application_id}/jobs'
const inputs = JSON.parse(topic) as components['schemas']['CreateJobRequest']['inputs']

const created = await client.POST(jobs, { params: { path: { application_id } }, body: { inputs } })
if (created.data === undefined) throw new Error(created.error.tpe)
// Members that the application defines.
export const data: NonNullable<components['schemas']['Job']['data']> = { topic: ['tea'] }
let job: components['schemas']['Job'] | undefined
do {
  const { data } = await client.GET('/v1/applications/jobs/{job_id}', { params: { path: { job_id: created.data.id } } })
  job = data
} while (job?.status === 'in_progress')
const other = '00000000-0000-4000-8000-000000000000'
const refused = await client.POST(jobs, { params: { path: { application_id: other } }, body: { inputs } })
console.log(created.response.status, job?.status, refused.response.status, refused.error?.tpe)
`

const tsconfig = {
  compilerOptions: {
    target: 'ES2023',
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    outDir: 'out',
  },
  include: ['*.ts'],
}

test('a client that is generated from the document compiles, and works against the reference', async () => {
  const server = await startReference()
  const project = makeProject({
    'client.ts': right,
    'wrong.ts': wrong,
    'tsconfig.json': JSON.stringify(tsconfig),
  })
  onTestFinished(async () => {
    project.remove()
    await server.close()
  })
  const document = 'node_modules/ai-content-conformance/schemas/openapi.json'
  expect((await project.run('openapi-typescript', [document, '-o', 'interface.ts'])).code).toBe(0)
  // The compiler writes what it can, whatever it finds: once is enough for both files.
  const { stdout } = await project.run('tsc', [])
  const found = [...stdout.matchAll(/^(\S+)\((\d+),/gm)].map(([, file, line]) => `${file} ${line}`)
  expect([...new Set(found)]).toEqual([3, 4, 5, 6].map((line) => `wrong.ts ${line}`))

  const { resources } = server.target
  const { id, inputs } = resources!.application!
  const said = await project.run('node', [
    'out/client.js',
    server.url,
    referenceKey,
    id,
    JSON.stringify(inputs),
  ])
  expect(said).toEqual({ code: 0, stdout: '202 completed 404 ResourceNotFound\n', stderr: '' })
})
