import ArgumentParser

struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Makes, compiles, checks, compares and draws models.",
        subcommands: [
            ModelNewCommand.self,
            ModelAddVersionCommand.self,
            ModelCompileCommand.self,
            ModelConvertCommand.self,
            ModelDecompileCommand.self,
            ModelFmtCommand.self,
            ModelHashCommand.self,
            ModelGenerateCommand.self,
            ModelLintCommand.self,
            ModelDiffCommand.self,
            ModelGraphCommand.self,
            ModelDocCommand.self,
        ])
}
