/// Mangles types and method signatures.
///
///     type        ::= nominal
///     type        ::= type 'Sg'                                     // optional; it and the next have numbers
///     type        ::= nominal 'y' type* ('_' type*)* 'G'            // generic arguments, a list for each level
///     type        ::= 'yt' | element ('_' element*) 't'             // tuple: '_' follows the first element
///     element     ::= type identifier?
///     type        ::= protocols 'p' | protocols 'Xl'                // any P; with AnyObject
///     protocols   ::= 'y' | protocol '_' protocol*
///     protocol    ::= context decl-name | 'S' letter
///     labels      ::= 'y' | ('_' | identifier)*                     // 'y': none has a label; nothing: none at all
///     parameters  ::= 'y' | type | tuple                            // a type alone only without label
///     result      ::= 'y'                                           // nothing is returned by what is supported
extension Mangler {
    mutating func append(_ type: MangledType) {
        switch type {
        case .nominal(let declaration): append(declaration)
        case .optional(let wrapped):
            if appendSubstitution(.type(type)) { return }
            append(wrapped)
            append("Sg")
            remember(.type(type))
        case .bound(let declaration, let levels):
            if appendSubstitution(.type(type)) { return }
            append(declaration)
            for (index, arguments) in levels.enumerated() {
                append(index == 0 ? "y" : "_")
                for argument in arguments { append(argument) }
            }
            append("G")
            remember(.type(type))
        case .tuple(let elements): appendTuple(elements)
        case .existential(let protocols, let isClass):
            for (index, declaration) in protocols.enumerated() {
                appendProtocol(declaration)
                if index == 0 { append("_") }
            }
            if protocols.isEmpty { append("y") }
            append(isClass ? "Xl" : "p")
        }
    }

    private mutating func appendProtocol(_ declaration: NominalDeclaration) {
        if appendStandard(declaration) { return }
        append(declaration.context)
        appendName(declaration.name, discriminator: declaration.discriminator)
    }

    private mutating func appendTuple(_ elements: [MangledType.Element]) {
        if elements.isEmpty { append("y") }
        for (index, element) in elements.enumerated() {
            append(element.type)
            if let label = element.label { appendIdentifier(label) }
            if index == 0 { append("_") }
        }
        append("t")
    }

    mutating func appendLabels(_ labels: [String?]) {
        if labels.isEmpty { return }
        if labels.allSatisfy({ $0 == nil }) { return append("y") }
        for label in labels {
            if let label { appendIdentifier(label) } else { append("_") }
        }
    }

    mutating func appendSignature(labels: [String?], parameters: [MangledType]) {
        append("y")
        if parameters.isEmpty {
            append("y")
        } else if parameters.count == 1, labels == [nil] {
            append(parameters[0])
        } else {
            appendTuple(parameters.map { MangledType.Element($0) })
        }
    }
}
