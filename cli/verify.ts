import { Command, Option } from 'commander'
import { suiteFacts } from '../certificate/suite-facts.ts'
import { verifyFile } from '../certificate/verify-file.ts'
import { UserError } from '../harness/user-error.ts'
import { json } from '../reporters/escape/json.ts'
import { keyIdOption, repeatable } from './run/options.ts'

interface VerifyArguments {
  readonly bundle?: string
  readonly publicKey?: string
  readonly keyId: readonly string[]
  readonly report?: string
  readonly har: readonly string[]
  readonly require?: 'conformant'
  readonly json?: boolean
}

export function verifyCommand(): Command {
  return new Command('verify')
    .description(
      'check a certificate, offline: exit 0 if it is valid and all that was asked for, 1 if not, 2 if it could not be looked at',
    )
    .argument('[file]', 'the certificate, or a bundle')
    .option('--bundle <file.zip>', 'the bundle, which holds the certificate and all that it rests on')
    .option(
      '--public-key <pem>',
      "a signer's public key; without it the keys inside are used, which does not say whose they are",
    )
    .addOption(keyIdOption('id of a key that has to have signed it; repeatable, one of them is enough'))
    .option('--report <report.json>', 'the report that the certificate was issued for')
    .addOption(repeatable('--har <file.har>', 'the exchanges that it was issued for, beside --report; repeatable'))
    .addOption(
      new Option('--require <verdict>', 'exit 1 for anything less, a partial one included').choices(['conformant']),
    )
    .option('--json', 'print the findings as JSON')
    .action(async (file: string | undefined, options: VerifyArguments) => {
      const { lines, result } = verifyFile(
        { ...options, file: onlyFile(file, options.bundle), keyIds: options.keyId },
        { now: new Date(), suite: suiteFacts() },
      )
      process.stdout.write(options.json ? `${json(result, 2)}\n` : lines.map((line) => `${line}\n`).join(''))
      if (!result.accepted) process.exitCode = 1
    })
}

function onlyFile(file: string | undefined, bundle: string | undefined): string {
  const path = bundle ?? file
  if (path === undefined || (file !== undefined && bundle !== undefined)) {
    throw new UserError('verify: give one certificate, or one --bundle')
  }
  return path
}
