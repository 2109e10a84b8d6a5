import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPublicKey, writeKeyPair } from '../../certificate/keys.ts'
import { suiteFacts } from '../../certificate/suite-facts.ts'
import { signFile } from '../../cli/sign.ts'
import { verifyCertificate } from '../../certificate/verify-certificate.ts'
import { verifyFile } from '../../cli/verify.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { report, result } from '../gates/results.ts'
import { folder, issuedAt } from './issued.ts'

const at = folder()
const file = (name: string) => join(at, name)
writeKeyPair(file('k.pem'), file('k.pub.pem'))

const whole = report(catalogue.map(({ id, operation, level }) => result(id, { operation, level })))
whole.suite.version = suiteFacts().version
writeFileSync(file('report.json'), JSON.stringify(whole))
const options = { privateKey: file('k.pem'), out: file('c.json'), validDays: 180 }

test('a report of the whole catalogue is signed, and what was written verifies', () => {
  signFile(file('report.json'), options, issuedAt)
  const given = { publicKey: file('k.pub.pem'), report: file('report.json') }
  expect(verifyFile(file('c.json'), given, issuedAt)).toMatchObject({ valid: true })
  const { statement } = verifyCertificate(readFileSync(file('c.json')), {
    now: issuedAt,
    publicKey: readPublicKey(file('k.pub.pem')),
  })
  expect(statement!.predicate.requirements.count).toBe(catalogue.length)
})

test('nothing is written where signing is refused', () => {
  writeFileSync(file('cut.json'), JSON.stringify(report(whole.requirements.slice(1))))
  expect(() => signFile(file('cut.json'), { ...options, out: file('no.json') }, issuedAt)).toThrow(/is missing/)
  expect(existsSync(file('no.json'))).toBe(false)
})

test('neither report nor key is overwritten, and a place that cannot be written is named', () => {
  expect(() => signFile(file('report.json'), { ...options, out: file('report.json') }, issuedAt)).toThrow(
    /would overwrite/,
  )
  expect(() => signFile(file('report.json'), { ...options, out: file('k.pem') }, issuedAt)).toThrow(/would overwrite/)
  expect(() => signFile(file('report.json'), { ...options, out: file('x/c.json') }, issuedAt)).toThrow(
    /written \(ENOENT\)/,
  )
})
