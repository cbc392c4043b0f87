import ArgumentParser
import CoreDataModel
import CoreDataModelTools
import Foundation

/// The command `coredata model graph`.
struct ModelGraphCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case svg
        case mermaid
        case dot
    }

    enum Layout: String, ExpressibleByArgument, CaseIterable {
        case xcode
        case auto
    }

    static let configuration = CommandConfiguration(
        commandName: "graph",
        abstract: "Draws a model: entities, relationships, inheritance.",
        usage: "coredata model graph [<options>] <model>",
        discussion: """
            One arrow head means to-one, two mean to-many, an open triangle points to the parent. The SVG follows the \
            reader's choice of light or dark. Boxes stay where Xcode has them if the model says so for every entity and \
            they do not overlap; otherwise, or with --layout auto, they are laid out anew.

            EXAMPLES
              coredata model graph Library.xcdatamodeld --output Library.svg
              coredata model graph Library.momd --format mermaid >> README.md
              coredata model graph Library.momd --format dot | dot -Tpdf -o Library.pdf
            """)

    @OptionGroup var input: ModelInput

    @Option(help: "svg, mermaid or dot.")
    var format = Format.svg

    @Option(help: "xcode: where Xcode has the entities, if it has all of them; auto: laid out anew.")
    var layout = Layout.xcode

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write. Without it standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace what is there.")
    var force = false

    func run() throws {
        if let output, output != "-" { try ExportTarget.check(output, isReplacing: force) }
        let versions = try input.versions()
        let document = try versions.document(named: input.version, at: input.path)
        try document.checkRead()
        let diagram = ModelDiagram(document)
        let text: String
        switch format {
        case .svg:
            let scene = DiagramScene(diagram, usesPositions: layout == .xcode)
            text = SVGDrawing.text(scene, title: "Model \(document.name ?? versions.name)")
        case .mermaid: text = DiagramText.mermaid(diagram)
        case .dot: text = DiagramText.dot(diagram)
        }
        try TextOutput.write(text, to: output)
    }
}

extension TextOutput {
    /// Writes a text; an existing file is replaced only after the text is complete.
    static func write(_ text: String, to path: String?) throws {
        let output = try TextOutput(path: path)
        do {
            try output.write(text)
            try output.finish()
        } catch {
            output.cancel()
            throw error
        }
    }
}
