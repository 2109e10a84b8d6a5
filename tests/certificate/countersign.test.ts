import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { signer, wholeReport } from './signed.ts'

/** A vendor's bundle and certificate, and a certifier who has a key of his own. */
async function both(of = wholeReport(), partial = false) {
  const vendor = signer(of)
  await vendor.bundle({ out: vendor.file('c.json'), partial })
  return { vendor, certifier: signer() }
}

test('sign --add countersigns a bundle, and each of the two keys is enough to whoever knows it', async () => {
  const { vendor, certifier } = await both()
  const add = vendor.file('b.zip')
  await certifier.sign({ report: undefined, add, out: undefined, bundle: certifier.file('b.zip') })
  const { result, lines } = certifier.verify('b.zip', {
    keyId: [certifier.id],
    require: 'conformant',
  })
  expect(result).toMatchObject({
    accepted: true,
    signedBy: [
      { keyId: vendor.id, known: null },
      { keyId: certifier.id, known: '--key-id' },
    ],
  })
  expect(lines.slice(0, 2)).toEqual([
    expect.stringMatching(`^Valid: conformant.*, signed by an unknown key ${vendor.id}$`),
    `also signed by the key of --key-id ${certifier.id}`,
  ])
  for (const of of [vendor, certifier])
    expect(certifier.verify('b.zip', { publicKey: of.file('k.pub.pem') }).result.accepted).toBe(
      true,
    )
  expect(certifier.verify('b.zip', { keyId: [signer().id] }).result.unmet[0]).toMatch(
    /^it is not signed by sha256:/,
  )
  expect(certifier.verify('b.zip').result.certificate).toBe(
    vendor.verify('b.zip').result.certificate,
  )
})

test('a certificate is countersigned beside its report, and not without', async () => {
  const { vendor, certifier } = await both()
  const add = vendor.file('c.json')
  await expect(certifier.sign({ add, report: undefined })).rejects.toThrow(
    /without the report that it was issued for/,
  )
  await expect(
    certifier.sign({ add, bundle: certifier.file('b.zip'), report: vendor.file('report.json') }),
  ).rejects.toThrow(/is not a bundle/)
  vendor.put(
    'other.json',
    wholeReport((whole) => (whole.run.seed = 5)),
  )
  await expect(certifier.sign({ add, report: vendor.file('other.json') })).rejects.toThrow(
    /is not the report it was issued/,
  )
  await certifier.sign({ add, report: vendor.file('report.json') })
  expect(certifier.verify('c.json').result.signedBy.map(({ keyId }) => keyId)).toEqual([
    vendor.id,
    certifier.id,
  ])
  await expect(
    certifier.sign({
      add: certifier.file('c.json'),
      report: vendor.file('report.json'),
      out: certifier.file('d.json'),
    }),
  ).rejects.toThrow(/signed it twice/)
  await expect(
    certifier.sign({ add, report: vendor.file('report.json'), out: add }),
  ).rejects.toThrow(/would overwrite/)
})

test('a partial certificate is countersigned with --partial only, one that is over not at all', async () => {
  const { vendor, certifier } = await both(
    wholeReport((whole) => (whole.run.insecure = true)),
    true,
  )
  const request = { add: vendor.file('c.json'), report: vendor.file('report.json') }
  await expect(certifier.sign(request)).rejects.toThrow(
    /TLS certificates were not verified \(--insecure\); --partial/,
  )
  await certifier.sign({ ...request, partial: true })
  expect(
    certifier.verify('c.json', { keyId: [certifier.id], require: 'conformant' }).result.unmet,
  ).toEqual(['it is partial (--require conformant)'])
})

test('every signature is verified: one that does not hold, or names another key, spoils all', async () => {
  const { vendor, certifier } = await both()
  await certifier.sign({ add: vendor.file('c.json'), report: vendor.file('report.json') })
  const envelope = JSON.parse(readFileSync(certifier.file('c.json'), 'utf8'))
  const [first, second] = envelope.signatures
  const stranger = readFileSync(signer().file('k.pub.pem'), 'utf8')
  const problems = (...signatures: unknown[]) => {
    writeFileSync(
      certifier.file('x.json'),
      `${JSON.stringify({ ...envelope, signatures }, null, 2)}\n`,
    )
    const { valid, problems: found } = certifier.verify('x.json').result
    expect(valid).toBe(found.length === 0)
    return found.join()
  }
  expect(problems(first, second)).toBe('')
  expect(problems(first, { ...second, sig: first.sig })).toMatch(
    /its signature 2 does not hold: it is not one by/,
  )
  expect(problems(first, { ...second, publicKey: stranger })).toMatch(
    /signature 2 does not hold: it names sha256:/,
  )
  expect(problems(first, { keyid: second.keyid, sig: second.sig })).toMatch(
    /there is no Ed25519 public key beside it/,
  )
  expect(problems(second)).toMatch(/signature 1 does not hold: it names/)
  expect(problems(first, second, second)).toMatch(/signed it twice/)
  expect(problems()).toMatch(/^it is not a certificate/)
})
