import CObjectRuntime
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Reads the arguments of a format from a C list, by the types of the format's placeholders.
enum VariableArguments {
    static func formatArguments(_ list: CVaListPointer, for format: String) -> [FormatArgument] {
        // The parser reports a wrong format.
        guard let kinds = try? PredicatePlaceholders.kinds(in: format), !kinds.isEmpty else { return [] }
        let letters = kinds.map(letter) + [0]
        var arguments = [ocd_argument](repeating: ocd_argument(), count: kinds.count)
        ocd_read_arguments(letters, Int32(kinds.count), list, &arguments)
        return zip(kinds, arguments).map(formatArgument)
    }

    private static func letter(_ kind: PredicatePlaceholders.Kind) -> CChar {
        let letter: Unicode.Scalar =
            switch kind {
            case .object, .cString: "p"
            case .integer(let isLong): isLong ? "l" : "i"
            case .double: "d"
            }
        return CChar(letter.value)
    }

    private static func formatArgument(_ kind: PredicatePlaceholders.Kind, _ argument: ocd_argument) -> FormatArgument {
        switch kind {
        case .integer: return .integer(argument.integer)
        case .double: return .double(argument.real)
        case .cString:
            guard let pointer = argument.pointer else { return .constant(.value(.null)) }
            return .string(String(cString: pointer.assumingMemoryBound(to: CChar.self)))
        case .object:
            guard let pointer = argument.pointer else { return .constant(.value(.null)) }
            return OperandBridging.formatArgument(Unmanaged<NSObject>.fromOpaque(pointer).takeUnretainedValue())
        }
    }
}
