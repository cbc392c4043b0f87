import ArgumentParser

/// The command group `coredata mapping`.
struct MappingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mapping",
        abstract: "Shows, infers and compiles mapping models.",
        discussion: """
            A mapping model says how objects of one version of a model become objects of another, where names and \
            renaming identifiers cannot. Applications find compiled ones, .cdm, among their resources.

            EXAMPLES
              coredata mapping show Library1to2.xcmappingmodel
              coredata mapping infer Library.xcdatamodeld --from Library --to 'Library 2'
              coredata mapping compile Library1to2.xcmappingmodel --output Resources
            """,
        subcommands: [MappingShowCommand.self, MappingInferCommand.self, MappingCompileCommand.self])
}
