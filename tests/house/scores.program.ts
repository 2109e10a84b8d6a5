import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { Traffic } from '../../bench/oracle-score/traffic.ts'
import type { HttpAnswer } from '../../harness/http/message.ts'

const root = new URL('../..', import.meta.url).pathname

test('the accusation score is told', async () => {
  const { stdout } = await promisify(execFile)('node', ['bench/accusation-score/accusation-score.js', '2'], {
    cwd: root,
  })
  expect(stdout).toMatch(/^0 of 2 conforming servers accused \(0\.0 %\)/)
})

test('the oracle score is told', async () => {
  const ofOne = ['bench/oracle-score/oracle-score.js', '3', 'files.list']
  const { stdout } = await promisify(execFile)('node', ofOne, { cwd: root })
  expect(stdout).toMatch(/\d of \d \([\d.]+ %\) noticed/)
})

test('a request is told apart in the same way in every run, though it was cut within an id of that run', () => {
  const signature = (id: string): string => {
    const traffic = new Traffic('orac')
    const upload = traffic.asked({ method: 'POST', path: '/v1/files', headers: [] })
    const body = Buffer.from(JSON.stringify({ id }))
    traffic.learn(upload, { kind: 'answer', status: 200, headers: [], body } as unknown as HttpAnswer)
    const cut = JSON.stringify({ file_id: id }).slice(0, 26)
    return traffic.asked({ method: 'POST', path: '/v1/knowledge-graphs', headers: [], body: cut }).signature
  }
  const [one, other] = ['d065ef0e-8b94-4c1d-9a2b-0123456789ab', 'fb1e668a-1874-4a55-8c3d-ba9876543210']
  expect(signature(one)).toBe(signature(other))
})
