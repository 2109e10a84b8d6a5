import { Command } from '@commander-js/extra-typings'
import { type KeyObject, createPublicKey } from 'node:crypto'
import { parseReport, readBytes } from '../../harness/report/index.ts'
import { UserError } from '../../harness/user-error.ts'
import { tell, checkOutputs, writeAtomically } from '../../library/output.ts'
import { firstOf } from '../../reporters/text.ts'
import { whole } from '../run/arguments.ts'
import {
  claimLines,
  daysAfterRun,
  foreignReasons,
  makeStatement,
  MOST_VALID_DAYS,
  PAYLOAD_TYPE,
  reportProblems,
  VALID_DAYS,
} from './statement.ts'
import { encodeEnvelope, signEnvelope } from './envelope.ts'
import { pemOf, readPrivateKey } from './keys.ts'

export function command() {
  return new Command('sign')
    .summary('sign a certificate for a run')
    .description('sign a certificate for the JSON report of a complete, conformant run')
    .argument('<report.json>', 'report of conform --report json')
    .requiredOption('--private-key <pem>', 'Ed25519 private key; conform keygen makes one')
    .option('--out <file>', 'certificate file to write', 'conform-certificate.json')
    .option(
      '--valid-days <n>',
      `validity in days from the run; at most ${MOST_VALID_DAYS}`,
      whole(1, MOST_VALID_DAYS),
      VALID_DAYS,
    )
    .option(
      '--partial',
      'sign a run that is incomplete or not conformant; the certificate says why',
    )
    .action(async (path, { out, partial = false, privateKey: keyFile, validDays }) => {
      const output = { path: out, option: `--out ${out}` }
      checkOutputs([output], { [path]: path, [keyFile]: keyFile })
      const bytes = readBytes(path)
      const key = await readPrivateKey(keyFile)
      const options = { now: new Date(), validDays, partial, key }
      const { certificate, claims } = signReport(path, bytes, options)
      await writeAtomically(out, certificate)
      tell(process.stdout, [
        'signed:',
        ...claimLines(claims).map((line) => `  ${line}`),
        `${out} written; check it with: conform verify ${out} --report ${path}`,
      ])
    })
}

interface SignOptions {
  readonly now: Date
  readonly validDays: number
  readonly partial: boolean
  readonly key: KeyObject
}

/** The certificate of a report. Throws UserError with the reasons if it must not be signed. */
export function signReport(path: string, bytes: Buffer, options: SignOptions) {
  const { key, now, partial, validDays } = options
  const report = parseReport(bytes.toString('utf8'), path)
  const refuseFor = (problem: string): UserError =>
    new UserError(`${path}: cannot be signed: ${problem}`)
  const problems = reportProblems(report)
  if (problems.length > 0) throw refuseFor(firstOf(problems, 5).join('; '))
  const issuedAt = now.toISOString()
  const end = daysAfterRun(report.run.startedAt, issuedAt, validDays)
  if (end <= now.getTime())
    throw refuseFor(`${validDays} days after the run (--valid-days) have passed`)
  const expiresAt = new Date(end).toISOString()
  const publicKey = pemOf(createPublicKey(key))
  const statement = makeStatement(report, bytes, { issuedAt, expiresAt, publicKey })
  const reasons = [...statement.predicate.partial, ...foreignReasons(report.suite)]
  if (!partial && reasons.length > 0)
    throw refuseFor(`${reasons.join('; ')}; --partial signs it and lists these reasons`)
  const claims = { ...statement.predicate, partial: reasons }
  const payload = Buffer.from(JSON.stringify({ ...statement, predicate: claims }))
  return { certificate: encodeEnvelope(signEnvelope(PAYLOAD_TYPE, payload, key)), claims }
}
