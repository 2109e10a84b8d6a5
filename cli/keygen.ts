import { Command } from 'commander'
import { keyId } from '../certificate/dsse.ts'
import { writeKeyPair } from '../certificate/keys.ts'

export function keygenCommand(): Command {
  return new Command('keygen')
    .description('make an Ed25519 key pair for signing certificates; overwrites nothing')
    .option('--private-key <pem>', 'where to write the private key, readable by its owner only', 'conform-key.pem')
    .option('--public-key <pem>', 'where to write the public key', 'conform-key.pub.pem')
    .action(async (options: { privateKey: string; publicKey: string }) => {
      const { publicKey } = writeKeyPair(options.privateKey, options.publicKey)
      process.stdout.write(
        `private key: ${options.privateKey} (keep it secret)\n` +
          `public key:  ${options.publicKey}\n` +
          `key id:      ${keyId(publicKey)}\n`,
      )
    })
}
