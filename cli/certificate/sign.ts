import { Command } from '@commander-js/extra-typings'
import { type KeyObject, createPublicKey } from 'node:crypto'
import { parseReport, readBytes } from '../../harness/report/index.ts'
import { ensure } from '../../harness/user-error.ts'
import { tell } from '../../library/output/say.ts'
import { firstOf } from '../../reporters/text.ts'
import { checkOutputs, writeAtomically } from '../../library/output/files.ts'
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
import type { Statement } from './statement-schema.ts'

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
      const draft = draftStatement(path, bytes, { now: new Date(), validDays, partial })
      const key = await readPrivateKey(keyFile)
      await writeAtomically(out, sealStatement(draft, key))
      tell(process.stdout, [
        'signed:',
        ...claimLines(draft.predicate).map((line) => `  ${line}`),
        `${out} written; check it with: conform verify ${out} --report ${path}`,
      ])
    })
}

interface SignOptions {
  readonly now: Date
  readonly validDays: number
  readonly partial: boolean
}

/** The unsigned statement about a report. Throws UserError with the reasons if it must not be signed. */
export function draftStatement(path: string, bytes: Buffer, options: SignOptions): Statement {
  const report = parseReport(bytes.toString('utf8'), path)
  const problems = reportProblems(report)
  ensure(problems.length === 0, `${path}: cannot be signed: ${firstOf(problems, 5).join('; ')}`)
  const issuedAt = options.now.toISOString()
  const end = daysAfterRun(report.run.startedAt, issuedAt, options.validDays)
  ensure(
    end > options.now.getTime(),
    `${path}: cannot be signed: ${options.validDays} days after the run (--valid-days) have passed`,
  )
  const expiresAt = new Date(end).toISOString()
  const statement = makeStatement(report, bytes, { issuedAt, expiresAt, publicKey: '' })
  const reasons = [...statement.predicate.partial, ...foreignReasons(report.suite)]
  ensure(
    options.partial || reasons.length === 0,
    `${path}: cannot be signed: ${reasons.join('; ')}; --partial signs it and lists these reasons`,
  )
  return { ...statement, predicate: { ...statement.predicate, partial: reasons } }
}

export function sealStatement({ predicate, ...rest }: Statement, key: KeyObject): string {
  const statement = { ...rest, predicate: { ...predicate, publicKey: pemOf(createPublicKey(key)) } }
  return encodeEnvelope(signEnvelope(PAYLOAD_TYPE, Buffer.from(JSON.stringify(statement)), key))
}
