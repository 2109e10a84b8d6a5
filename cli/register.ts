import { Command } from 'commander'
import { buildRegister } from '../certificate/register/build.ts'
import { suiteFacts } from '../certificate/suite-facts.ts'
import { count } from '../harness/report/reason.ts'
import { keyIdOption } from './run/options.ts'

interface RegisterArguments {
  readonly out: string
  readonly keyId: readonly string[]
  readonly foreign?: boolean
}

export function registerCommand(): Command {
  return new Command('register')
    .description('build a static site of certified services from a folder of certificates and bundles')
    .argument('<folder>', 'the certificates; with trusted-keys.json and revoked.json in the same folder')
    .requiredOption('--out <folder>', 'where to write the site: a new or empty folder, or a register built before')
    .addOption(keyIdOption('id of a key to trust in addition to those of trusted-keys.json; repeatable'))
    .option('--foreign', 'list also what was judged by requirements of no version of the suite that this one knows')
    .action(async (folder: string, { out, keyId, foreign = false }: RegisterArguments) => {
      const options = { keyIds: keyId, foreign, now: new Date(), suite: suiteFacts() }
      const services = buildRegister(folder, out, options)
      const states = (['valid', 'expired', 'revoked'] as const).map(
        (status) => `${services.filter(({ current }) => current.status === status).length} ${status}`,
      )
      process.stdout.write(`${out} written: ${[count(services.length, 'service'), ...states].join(', ')}\n`)
    })
}
