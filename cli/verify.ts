import { Command } from 'commander'
import { readBytes } from '../harness/report/json-file.ts'
import { UserError } from '../harness/user-error.ts'
import { describe } from '../certificate/describe.ts'
import { readPublicKey } from '../certificate/keys.ts'
import { verifyCertificate } from '../certificate/verify-certificate.ts'

export interface VerifyArguments {
  readonly publicKey?: string
  readonly report?: string
}

export function verifyCommand(): Command {
  return new Command('verify')
    .description('check a certificate, offline: exit 0 where it is intact and valid, else 1')
    .argument('<file>', 'the certificate')
    .option(
      '--public-key <pem>',
      "the signer's public key; without it the key inside serves, which says nothing of whose it is",
    )
    .option('--report <report.json>', 'the report that the certificate was issued for')
    .action(async (file: string, options: VerifyArguments) => {
      const { lines, valid } = verifyFile(file, options, new Date())
      process.stdout.write(lines.map((line) => `${line}\n`).join(''))
      if (!valid) process.exitCode = 1
    })
}

/** Checks the certificate in that file. A file that cannot be read is no proof either: that is a finding, not an error. */
export function verifyFile(file: string, options: VerifyArguments, now: Date): { lines: string[]; valid: boolean } {
  try {
    const found = verifyCertificate(readBytes(file), {
      now,
      ...(options.publicKey !== undefined && { publicKey: readPublicKey(options.publicKey) }),
      ...(options.report !== undefined && { report: { path: options.report, bytes: readBytes(options.report) } }),
    })
    return { lines: describe(found, options), valid: found.problems.length === 0 }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { lines: [`not valid: ${error.message}`], valid: false }
  }
}
