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
  'json=conform-key.pem',
  'json=soft.json',
  'html=hard.html',
  'json=conform-key.pub.pem',
  'junit=chain.pem',
])('a report never overwrites a key: --report %s', async (report) => {
  const { code, stderr } = await conform(`--report ${report}`, { cwd })
  expect(code).toBe(2)
  expect(stderr).toMatch(/contains a key, which is never overwritten; give another file/)
  expect(readFileSync(at('conform-key.pem'), 'utf8')).toBe(pem)
})

test('nor does a target file that init writes by --force', async () => {
  symlinkSync(at('conform-key.pem'), at('target.ts'))
  const { code, stderr } = await conform('init target.ts --force', { cwd })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/target\.ts: contains a key, which is never/),
  })
  expect(readFileSync(at('conform-key.pem'), 'utf8')).toBe(pem)
})

test('a page that quotes a key is a report like any other', async () => {
  const args = '--only files.list/401-missing-credentials --report html=page.html'
  expect(await conform(args, { cwd })).toMatchObject({ code: 0 })
  expect(readFileSync(at('page.html'), 'utf8')).not.toContain('PRIVATE KEY')
})
