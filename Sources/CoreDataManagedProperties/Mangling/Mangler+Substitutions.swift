/// An element that was written before and can be referred to.
enum Substitution: Hashable {
    case identifier(String)
    case declaration(NominalDeclaration)
    case type(MangledType)
}

/// The last written reference, which the next one may be merged with.
struct SubstitutionMerging {
    /// The start of the reference.
    var start = 0
    var length = 0
    var repetitions = 0
    var isStandard = false
}

/// Mangles references to earlier elements, by number.
///
///     substitution ::= 'A' index                 // index: '_' is 26, '0_' is 27, …
///     substitution ::= 'A' lower* upper          // AbC: number 1, then number 2
///     substitution ::= 'A' count letter          // A2C: number 2 twice
///     nominal      ::= 'S' count letter          // S2i: Int twice
extension Mangler {
    /// Assigns the next number to the element that was just written.
    mutating func remember(_ substitution: Substitution) {
        if substitutions[substitution] == nil { substitutions[substitution] = substitutions.count }
    }

    /// Writes a reference; returns whether the element was written before.
    mutating func appendSubstitution(_ substitution: Substitution) -> Bool {
        guard let number = substitutions[substitution] else { return false }
        if number >= 26 {
            append(number == 26 ? "A_" : "A\(number - 27)_")
            return true
        }
        let letter = UInt8(ascii: "A") + UInt8(number)
        if !mergeSubstitution(letter, isStandard: false) {
            append("A")
            append(byte: letter)
        }
        return true
    }

    /// Merges a reference with the one directly before it. Without one, records this reference and returns false.
    mutating func mergeSubstitution(_ letter: UInt8, isStandard: Bool) -> Bool {
        let maximumRepetitions = 2048
        if merging.repetitions > 0, merging.repetitions < maximumRepetitions, merging.isStandard == isStandard,
            bytes.count == merging.start + merging.length, let last = bytes.last
        {
            if last == letter {
                merging.repetitions += 1
                truncate(to: merging.start)
                append("\(merging.repetitions)")
                append(byte: letter)
                merging.length = bytes.count - merging.start
                return true
            }
            if !isStandard {
                truncate(to: bytes.count - 1)
                append(byte: last + (UInt8(ascii: "a") - UInt8(ascii: "A")))
                append(byte: letter)
                merging = SubstitutionMerging(start: bytes.count - 1, length: 1, repetitions: 1, isStandard: false)
                return true
            }
        }
        merging = SubstitutionMerging(start: bytes.count + 1, length: 1, repetitions: 1, isStandard: isStandard)
        return false
    }
}
