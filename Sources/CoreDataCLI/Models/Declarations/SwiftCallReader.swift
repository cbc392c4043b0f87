import CoreDataDeclarations
import CoreDataPrimitives

/// Consumes the arguments of a call one by one, and reports those with a wrong type or an unknown label.
struct SwiftCallReader {
    let call: SwiftCallExpression
    let place: SourceLocation
    let problems: ReadingProblems
    private var arguments: [SwiftCallExpression.Argument]

    init(_ call: SwiftCallExpression, at place: SourceLocation, _ problems: ReadingProblems) {
        self.call = call
        self.place = place
        self.problems = problems
        arguments = call.arguments
    }

    /// Returns the first argument with the label, or without one.
    mutating func take(_ label: String?) -> SwiftExpression? {
        guard let index = arguments.firstIndex(where: { $0.label == label }) else { return nil }
        return arguments.remove(at: index).value
    }

    /// Returns the argument with the label and the unlabelled arguments that follow it: `on: "a", "b"`.
    mutating func takeAll(_ label: String?) -> [SwiftExpression] {
        guard let start = arguments.firstIndex(where: { $0.label == label }) else { return [] }
        var end = start + 1
        while end < arguments.count, arguments[end].label == nil { end += 1 }
        let values = arguments[start..<end].map(\.value)
        arguments.removeSubrange(start..<end)
        return values
    }

    mutating func text(_ label: String?) -> String? {
        take(label).flatMap { value in
            if case .text(let text) = value.content { return text }
            return wrong(value, "a text in quotes")
        }
    }

    mutating func requiredText(_ label: String?) -> String {
        guard arguments.contains(where: { $0.label == label }) else {
            problems.report("\(call.name) has no \(label.map { "'\($0)'" } ?? "name")", at: place)
            return ""
        }
        return text(label) ?? ""
    }

    mutating func flag(_ label: String?) -> Bool? {
        take(label).flatMap { value in
            if case .boolean(let flag) = value.content { return flag }
            return wrong(value, "true or false")
        }
    }

    mutating func integer(_ label: String?) -> Int? {
        take(label).flatMap { value in
            if case .number(let digits) = value.content, let number = Int(digits) { return number }
            return wrong(value, "a whole number")
        }
    }

    mutating func texts(_ label: String?) -> [String] {
        takeAll(label).compactMap { value in
            if case .text(let text) = value.content { return text }
            return wrong(value, "a text in quotes")
        }
    }

    mutating func list(_ label: String?) -> [SwiftExpression] {
        take(label).flatMap { value -> [SwiftExpression]? in
            if case .list(let elements) = value.content { return elements }
            return wrong(value, "a list, […]")
        } ?? []
    }

    mutating func dictionary(_ label: String?) -> [String: String] {
        guard let value = take(label) else { return [:] }
        guard case .dictionary(let entries) = value.content else { return wrong(value, "a dictionary") ?? [:] }
        var result: [String: String] = [:]
        for entry in entries {
            if case .text(let key) = entry.key.content, case .text(let text) = entry.value.content {
                result[key] = text
            } else {
                let _: Int? = wrong(entry.value, "a text in quotes")
            }
        }
        return result
    }

    /// Returns a member with a leading dot: `.toMany(…)`.
    mutating func member(_ label: String?) -> (call: SwiftCallExpression, place: SourceLocation)? {
        take(label).flatMap { value in
            if case .call(let call) = value.content, call.hasLeadingPoint { return (call, value.place) }
            return wrong(value, "a member with a leading point")
        }
    }

    /// Reports the arguments that were not read.
    func finish() {
        for argument in arguments {
            let name = argument.label.map { "argument '\($0)'" } ?? "argument"
            problems.report("\(call.name) has an \(name) that is not read here", at: argument.value.place)
        }
    }

    func wrong<Result>(_ value: SwiftExpression, _ kind: String) -> Result? {
        problems.report("\(kind) should be here; only literals are read", at: value.place)
        return nil
    }
}
