import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { referenceKey } from '../cli/conform.ts'
import { makeProject } from './project.ts'

test('the project conformance of this repository judges what the environment names', async () => {
  const server = await startReference({ defects: ['files.list/2xx-accepted'] })
  const project = makeProject()
  onTestFinished(async () => {
    project.remove()
    await server.close()
  })
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const only = ['--project', 'conformance', '-t', 'files.list/2xx-accepted ']
  const env = { CONFORM_BASE_URL: server.url, CONFORM_API_KEY: referenceKey }
  const said = await project.run('vitest', ['run', '--root', root, ...only], env)
  expect(said.stdout).toMatch(/Tests .*1 failed/)
  expect(said.stderr).toMatch(/^expected +a 2xx/m)
  expect(said.code).toBe(1)
})
