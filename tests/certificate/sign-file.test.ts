import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { report } from '../gates/results.ts'
import { signer, wholeReport } from './signed.ts'

test('a report of the whole catalogue is signed, and what was written verifies', async () => {
  const { file, sign, verify } = signer()
  await sign({})
  const { result } = verify('c.json', { publicKey: file('k.pub.pem'), report: file('report.json') })
  expect(result).toMatchObject({
    accepted: true,
    heldAgainst: ['report'],
    verdict: 'conformant',
    partial: [],
  })
  expect(result.statement!.predicate.requirements.count).toBe(catalogue.length)
})

test('nothing is written if signing is refused', async () => {
  const { file, put, sign } = signer()
  const whole = wholeReport()
  put('cut.json', { ...report(whole.requirements.slice(1), whole.run), suite: whole.suite })
  await expect(sign({ report: file('cut.json'), out: file('no.json') })).rejects.toThrow(
    /is missing/,
  )
  expect(existsSync(file('no.json'))).toBe(false)
  await expect(sign({ report: undefined })).rejects.toThrow(/give the report to sign/)
})

test('no output overwrites an input or a key, by whatever name or link, nor another output', async () => {
  const { file, sign, bundle } = signer()
  symlinkSync(file('report.json'), file('soft.json'))
  linkSync(file('run.har'), file('hard.har'))
  const kept = readFileSync(file('report.json'))
  for (const name of ['report.json', 'k.pem', 'soft.json'])
    await expect(sign({ out: file(name) })).rejects.toThrow(/^--out .* would overwrite /)
  await expect(sign({ out: file('k.pub.pem') })).rejects.toThrow(
    /holds a key, which is never overwritten/,
  )
  await expect(bundle({ bundle: file('hard.har') })).rejects.toThrow(
    /^--bundle .*hard\.har: would overwrite .*run\.har/,
  )
  await expect(bundle({ out: file('b.zip') })).rejects.toThrow(
    /^--bundle .*b\.zip: is the same file as --out .*b\.zip/,
  )
  expect(readFileSync(file('report.json'))).toEqual(kept)
})

test('folders are made, what cannot be written is named, and nothing half-written stays behind', async () => {
  const { file, sign } = signer()
  await sign({ out: file('new/folder/c.json') })
  expect(readdirSync(file('new/folder'))).toEqual(['c.json'])
  mkdirSync(file('taken'))
  await expect(sign({ out: file('taken') })).rejects.toThrow(/^--out .*taken: is a folder$/)
  writeFileSync(file('plain'), '')
  await expect(sign({ out: file('plain/c.json') })).rejects.toThrow(/cannot be written \(E/)
  expect(readdirSync(file('.')).filter((name) => /part/.test(name))).toEqual([])
})
