import { existsSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { start } from './conform.ts'
import { conform } from './in-process.ts'

test('serve says where it is in one line, and its target file fits it', async () => {
  const server = start('serve')
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const { url, target, ...rest } = JSON.parse(await server.firstLine)
  expect(rest).toEqual({})
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await conform(`-t ${target} --only translate.run/*`)).toMatchObject({ code: 0 })

  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^.*\n$/),
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

test('serve ends with the command after --, and with its exit code', async () => {
  const ask = `fetch(process.env.CONFORM_URL + '/v1/files', {
    headers: { authorization: 'Bearer ' + process.env.CONFORM_API_KEY },
  }).then(({ status }) => process.exit(status === 200 && process.env.CONFORM_TARGET ? 7 : 1))`
  const { code, stdout } = await start(['serve', '--', process.execPath, '-e', ask]).ended
  expect(code).toBe(7)
  expect(stdout).toMatch(/^\{.*\}\nexit 7: .*ended with 7\n$/)
  expect(await start(['serve', '--', 'no-such-program']).ended).toMatchObject({
    code: 2,
    stderr: 'conform: -- no-such-program: cannot be run (ENOENT)\n',
  })
})
