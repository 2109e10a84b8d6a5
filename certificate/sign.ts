import type { KeyObject } from 'node:crypto'
import { basename } from 'node:path'
import { readBytes } from '../harness/report/json-file.ts'
import { UserError } from '../harness/user-error.ts'
import type { Bundle, NamedBytes } from './bundle.ts'
import { exchangesNames, packBundle } from './bundle.ts'
import { evidenceOf, readCertificateFile } from './certificate-file.ts'
import { countersign, encode } from './dsse.ts'
import { issueCertificate, refusePartial } from './issue.ts'
import { readPrivateKey } from './keys.ts'
import type { Output } from './output-files.ts'
import { refuseOverwriting, writeWhole } from './output-files.ts'
import type { SuiteFacts } from './suite-facts.ts'
import { verifyCertificate } from './verify-certificate.ts'

export interface SignRequest {
  /** The report; a bundle that is countersigned holds its own. */
  readonly report?: string | undefined
  /** The certificate or bundle to countersign. */
  readonly add?: string | undefined
  readonly privateKey: string
  /** Where the certificate goes, and the bundle. */
  readonly out?: string | undefined
  readonly bundle?: string | undefined
  readonly har: readonly string[]
  /** The target file without keys, as canonical JSON, and where it was read. */
  readonly target?: { readonly path: string; readonly bytes: Uint8Array } | undefined
  readonly validDays: number
  readonly partial: boolean
}

/** Whatever signing needs from outside. */
export interface SignSettings {
  readonly now: Date
  readonly suite: SuiteFacts
  askPassphrase(file: string): Promise<string | undefined>
}

/** Issues or countersigns a certificate and writes what was asked for; throws UserError if that is refused or cannot be done. */
export async function signFiles(request: SignRequest, settings: SignSettings): Promise<void> {
  const { add, bundle, har, out, report, target } = request
  const outputs: Output[] = [
    ...(out === undefined ? [] : [{ option: '--out', path: out }]),
    ...(bundle === undefined ? [] : [{ option: '--bundle', path: bundle }]),
  ]
  const inputs = [request.privateKey, report, add, target?.path, ...har].filter((path) => path !== undefined)
  refuseOverwriting(outputs, inputs)
  const privateKey = await readPrivateKey(request.privateKey, (file) => settings.askPassphrase(file))
  const signed = add === undefined ? issue(request, privateKey, settings) : addTo(add, request, privateKey, settings)
  const files = outputs.map((output): [Output, Uint8Array] => [
    output,
    output.path === bundle ? packBundle(checked(signed.bundle(), settings)) : signed.certificate,
  ])
  for (const [output, bytes] of files) writeWhole(output, bytes)
}

/** What others will be unable to verify is not handed out. */
function checked(bundle: Bundle, { now, suite }: SignSettings): Bundle {
  const { problems } = verifyCertificate(bundle.certificate, { now, suite, evidence: evidenceOf('the bundle', bundle) })
  if (problems.length > 0) throw new UserError(`the bundle would not verify: ${problems.join('; ')}`)
  return bundle
}

interface Signed {
  readonly certificate: Uint8Array
  bundle(): Bundle
}

function issue(request: SignRequest, privateKey: KeyObject, { now, suite }: SignSettings): Signed {
  const { report: path, har, validDays, partial, target } = request
  if (path === undefined) throw new UserError('sign: give the report to sign, or --add and a certificate')
  const report = { name: path, bytes: readBytes(path) }
  const names = exchangesNames(har.length)
  const exchanges: NamedBytes[] = har.map((file, index) => ({ name: names[index] ?? file, bytes: readBytes(file) }))
  if (request.bundle !== undefined && har.length === 0) {
    throw new UserError(`--bundle ${request.bundle}: needs the exchanges of the run: --har, from --report har`)
  }
  // A run without a target file has the digest of an empty one.
  const declared = target
    ? { name: target.path, bytes: target.bytes }
    : { name: 'no --target', bytes: Buffer.from('{}') }
  const looked = target || request.bundle !== undefined ? declared : undefined
  const options = { privateKey, now, validDays, partial, suite }
  const certificate = issueCertificate({ report, exchanges, target: looked }, options)
  const bundle = (): Bundle => ({
    certificate,
    report: report.bytes,
    target: declared.bytes,
    requirements: Buffer.from(suite.requirementsText),
    exchanges,
  })
  return { certificate, bundle }
}

/** Another signature over the same statement, by somebody who has held it against its report. */
function addTo(add: string, request: SignRequest, privateKey: KeyObject, { now, suite }: SignSettings): Signed {
  const { bytes, evidence, bundle } = readCertificateFile(add, request)
  const found = bytes && verifyCertificate(bytes, { now, suite, evidence })
  if (!found) throw new UserError(`${add}: is not a bundle as conform sign writes it`)
  const { envelope, statement, problems } = found
  if (problems.length > 0 || !envelope || !statement) {
    throw new UserError(`${add}: cannot be countersigned: ${problems.join('; ')}`)
  }
  if (!evidence) throw new UserError(`${add}: cannot be countersigned without the report that it was issued for`)
  refusePartial(basename(add), statement.predicate.partial, request.partial)
  const certificate = encode(countersign(envelope, privateKey))
  const again = verifyCertificate(certificate, { now, suite }).problems
  if (again.length > 0) throw new UserError(`${add}: cannot be countersigned: ${again.join('; ')}`)
  return {
    certificate,
    bundle: () => {
      if (bundle) return { ...bundle, certificate }
      throw new UserError(`--bundle: ${add} is not a bundle; write the certificate with --out`)
    },
  }
}
