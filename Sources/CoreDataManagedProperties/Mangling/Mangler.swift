/// Mangles symbols of declarations like the Swift compiler (docs/ABI/Mangling.rst of the Swift repository).
///
/// It supports only properties and methods of managed objects:
///
///     symbol      ::= '$s' context decl-name type 'v' ('g' | 's')            // a property's getter, setter
///     symbol      ::= '$s' context decl-name labels result parameters 'F'    // a method; see Mangler+Types
///     context     ::= module | nominal | nominal module 'E'                  // extension in another module
///     module      ::= 's' | identifier                                       // 's' is Swift
///     nominal     ::= context decl-name ('C' | 'O' | 'V')
///     nominal     ::= 'S' letter                                             // well-known; see StandardTypes
///     decl-name   ::= identifier
///     decl-name   ::= identifier identifier 'LL'                             // private: name, file
///
/// Each element (an identifier, a nominal, a generic type) gets a number when it is first written, and is written as
/// that number afterwards: see Mangler+Substitutions. Words inside identifiers are abbreviated too: see
/// Mangler+Identifiers.
///
///     extension Note { var folder: Folder? }   // in module Notebook
///     $s 8Notebook 4Note C   6folder  AA 6Folder C  Sg  v g
///        0         1     2   3        0  4       5  6         // the numbers; AA is number 0 again
struct Mangler {
    private(set) var bytes: [UInt8] = Array("$s".utf8)
    var substitutions: [Substitution: Int] = [:]
    var merging = SubstitutionMerging()
    /// The positions of the identifiers' words in `bytes`.
    var words: [Range<Int>] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func append(byte: UInt8) { bytes.append(byte) }

    mutating func truncate(to count: Int) { bytes.removeSubrange(count...) }

    // MARK: Declarations

    mutating func appendMember(_ member: MangledMember) {
        append(member.context)
        appendName(member.name, discriminator: member.discriminator)
        switch member.shape {
        case .variable(let type): append(type)
        case .method(let labels, let parameters):
            appendLabels(labels)
            appendSignature(labels: labels, parameters: parameters)
            append("F")
        }
    }

    mutating func append(_ context: NominalDeclaration.Context) {
        switch context {
        case .module(let module): appendModule(module)
        case .type(let type): append(type)
        case .extension(let type, let module):
            append(type)
            appendModule(module)
            append("E")
        }
    }

    private mutating func appendModule(_ module: String) {
        if module == "Swift" { append("s") } else { appendIdentifier(module) }
    }

    mutating func append(_ declaration: NominalDeclaration) {
        if appendStandard(declaration) || appendSubstitution(.declaration(declaration)) { return }
        append(declaration.context)
        appendName(declaration.name, discriminator: declaration.discriminator)
        append(declaration.kind.rawValue)
        remember(.declaration(declaration))
    }

    mutating func appendName(_ name: String, discriminator: String?) {
        appendIdentifier(name)
        guard let discriminator else { return }
        appendIdentifier(discriminator)
        append("LL")
    }

    /// Writes a common type of the standard library with its short form: `SS` is `String`.
    mutating func appendStandard(_ declaration: NominalDeclaration) -> Bool {
        guard declaration.context == .module("Swift"), let letter = StandardTypes.letters[declaration.name] else {
            return false
        }
        if !mergeSubstitution(letter, isStandard: true) {
            append("S")
            append(byte: letter)
        }
        return true
    }
}
