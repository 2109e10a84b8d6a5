import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { UserError } from '../harness/user-error.ts'
import { issueCertificate, VALID_DAYS } from '../certificate/issue.ts'
import { readPrivateKey } from '../certificate/keys.ts'
import { suiteFacts } from '../certificate/suite-facts.ts'

export interface SignArguments {
  readonly privateKey: string
  readonly out: string
  readonly validDays: number
  readonly partial?: boolean
}

export function signCommand(): Command {
  return new Command('sign')
    .description('issue a certificate for the JSON report of a whole, conformant run')
    .argument('<report.json>', 'report of conform --report json')
    .requiredOption('--private-key <pem>', 'Ed25519 private key; conform keygen makes one')
    .option('--out <file>', 'where to write the certificate', 'conform-certificate.json')
    .addOption(new Option('--valid-days <n>', 'how long it is valid').argParser(days).default(VALID_DAYS))
    .option('--partial', 'issue one for any report that agrees with itself; it says why it is partial')
    .action(async (report: string, options: SignArguments) => {
      signFile(report, options, new Date())
      process.stdout.write(`${options.out} written; check it with: conform verify ${options.out} --report ${report}\n`)
    })
}

/** Issues the certificate and writes it; throws UserError where that is refused or cannot be done. */
export function signFile(report: string, options: SignArguments, now: Date): void {
  const { out, validDays, partial = false } = options
  if ([report, options.privateKey].some((file) => resolve(file) === resolve(out))) {
    throw new UserError(`--out ${out}: would overwrite what it is made from; give another file`)
  }
  const privateKey = readPrivateKey(options.privateKey)
  const certificate = issueCertificate(report, { privateKey, now, validDays, partial, suite: suiteFacts() })
  try {
    writeFileSync(out, certificate)
  } catch (error) {
    throw new UserError(`--out ${out}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}

function days(text: string): number {
  const number = Number(text)
  if (!/^\d{1,4}$/.test(text) || number < 1) throw new InvalidArgumentError('Give whole days, from 1 to 9999.')
  return number
}
