#pragma once

namespace attn {

/// The program `translate`, defined in attn::tools. A program that registers its models first can translate with them.
int translate_main(int count, char** words);

}  // namespace attn
