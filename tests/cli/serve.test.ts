import { existsSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { folder, readReport, start } from './conform.ts'
import { conform } from './in-process.ts'

test('serve says where it is in one line, and its target file fits it; judged twice, it is judged the same', async () => {
  const server = start(['serve'])
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const { url, target, ...rest } = JSON.parse(await server.firstLine) as {
    url: string
    target: string
  }
  expect(rest).toEqual({})
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)

  const cwd = folder()
  const judged = async (args: string) => {
    const ended = await conform(`-t ${target} --depth quick --report json ${args}`, { cwd })
    expect(ended.code).toBe(0)
    return readReport(cwd)
  }
  const whole = await judged('')
  expect(whole.verdict).toBe('conformant')
  // What a run made is still there.
  const made = ['graphs.create', 'applications.create'].map((operation) => `${operation}/4*`)
  const again = await judged(made.map((ids) => `--only ${ids}`).join(' '))
  const before = new Map(whole.requirements.map(({ id, outcome }) => [id, outcome]))
  const selected = again.requirements.filter(({ why }) => why?.kind !== 'left-out')
  expect(selected.length).toBeGreaterThan(10)
  for (const { id, outcome } of selected) expect([id, outcome]).toEqual([id, before.get(id)])

  server.child.kill('SIGTERM')
  const { code, stdout, stderr } = await server.ended
  expect({ code, stderr, lines: stdout.trimEnd().split('\n').length }).toEqual({
    code: 0,
    stderr: '',
    lines: 1,
  })
  expect(existsSync(target)).toBe(false)
  await expect(fetch(url)).rejects.toThrow()
})

test('a port that is taken is a mistake of the user', async () => {
  const server = start(['serve'])
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const { url } = JSON.parse(await server.firstLine) as { url: string }
  const { port } = new URL(url)
  const second = await conform(`serve --port ${port}`)
  expect(second).toMatchObject({ code: 2, stdout: '' })
  expect(second.stderr).toBe(
    `conform: --port ${port}: cannot be used (EADDRINUSE); give another, or 0 for any\n`,
  )
  expect((await conform('serve --port 65536')).code).toBe(2)
})
