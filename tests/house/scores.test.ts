import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = new URL('../..', import.meta.url).pathname

test('the accusation score is told', { timeout: 120_000 }, async () => {
  const { stdout } = await promisify(execFile)('node', ['bench/accusation-score/accusation-score.js', '2'], {
    cwd: root,
  })
  expect(stdout).toMatch(/^0 of 2 conforming servers accused \(0\.0 %\)/)
})

test('the oracle score is told', { timeout: 120_000 }, async () => {
  const ofOne = ['bench/oracle-score/oracle-score.js', '3', 'files.list']
  const { stdout } = await promisify(execFile)('node', ofOne, { cwd: root })
  expect(stdout).toMatch(/\d of \d \([\d.]+ %\) noticed/)
})
