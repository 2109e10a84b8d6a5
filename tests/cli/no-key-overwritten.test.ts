import { linkSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { folder } from './conform.ts'
import { conform } from './in-process.ts'

const cwd = folder()
const at = (name: string) => join(cwd, name)
let pem: string

beforeAll(async () => {
  expect((await conform(['keygen'], { cwd })).code).toBe(0)
  pem = readFileSync(at('conform-key.pem'), 'utf8')
  symlinkSync(at('conform-key.pem'), at('soft.json'))
  linkSync(at('conform-key.pem'), at('hard.html'))
  writeFileSync(
    at('chain.pem'),
    `-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n${pem}`,
  )
  writeFileSync(at('page.html'), `<html><pre>\n${pem}</pre></html>`)
})

test.each([
  ['http://127.0.0.1:1', '--report', 'json=conform-key.pem'],
  ['http://127.0.0.1:1', '--report', 'json=soft.json'],
  ['http://127.0.0.1:1', '--report', 'html=hard.html'],
  ['http://127.0.0.1:1', '--report', 'json=conform-key.pub.pem'],
  ['http://127.0.0.1:1', '--report', 'junit=chain.pem'],
])('a report never overwrites a key: conform %s %s %s', async (...args) => {
  const { code, stderr } = await conform(args, {
    cwd,
    env: { CONFORM_API_KEY: 'a-key-of-the-tests' },
  })
  expect(code).toBe(2)
  expect(stderr).toMatch(/holds a key, which is never overwritten; give another file/)
  expect(readFileSync(at('conform-key.pem'), 'utf8')).toBe(pem)
})

test('nor does a target file that init writes by --force', async () => {
  symlinkSync(at('conform-key.pem'), at('target.ts'))
  const { code, stderr } = await conform(['init', 'target.ts', '--force'], { cwd })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/target\.ts: holds a key, which is never/),
  })
  expect(readFileSync(at('conform-key.pem'), 'utf8')).toBe(pem)
})

test('a page that quotes a key is a report like any other', async () => {
  const env = { CONFORM_API_KEY: 'a-key-of-the-tests' }
  const { code } = await conform(['http://127.0.0.1:1', '--report', 'html=page.html'], { cwd, env })
  expect(code).toBe(3)
  expect(readFileSync(at('page.html'), 'utf8')).not.toContain('PRIVATE KEY')
})
