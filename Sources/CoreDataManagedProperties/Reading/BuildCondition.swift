import SwiftSyntax

/// Evaluates an `#if` condition as far as possible without the build settings.
///
/// Conditions that only the compiler knows (`DEBUG`, flags, versions) stay unknown and are repeated in the companion.
/// Conditions for Apple's platforms are false: there the runtime provides the accessors, and the plugin is not needed.
enum BuildCondition {
    /// Returns the value; `nil` if it is unknown.
    static func value(of condition: ExprSyntax) -> Bool? {
        if let literal = condition.as(BooleanLiteralExprSyntax.self) { return literal.literal.text == "true" }
        if let prefix = condition.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "!" {
            return value(of: prefix.expression).map { !$0 }
        }
        if let tuple = condition.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
            return value(of: only.expression)
        }
        if let sequence = condition.as(SequenceExprSyntax.self) { return value(of: Array(sequence.elements)[...]) }
        if let call = condition.as(FunctionCallExprSyntax.self) { return value(ofCall: call) }
        return nil
    }

    /// Evaluates alternating operands and operators; `&&` binds tighter than `||`.
    private static func value(of elements: ArraySlice<ExprSyntax>) -> Bool? {
        for (name, decisive) in [("||", true), ("&&", false)] {
            let parts = elements.split { $0.as(BinaryOperatorExprSyntax.self)?.operator.text == name }
            guard parts.count > 1 else { continue }
            let values = parts.map { value(of: $0) }
            if values.contains(decisive) { return decisive }
            return values.contains(nil) ? nil : !decisive
        }
        return elements.count == 1 ? elements.first.flatMap { value(of: $0) } : nil
    }

    private static func value(ofCall call: FunctionCallExprSyntax) -> Bool? {
        guard let function = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text,
            let argument = call.arguments.first?.expression.trimmedDescription
        else { return nil }
        switch function {
        case "os": return applePlatforms.contains(argument) ? false : nil
        case "canImport": return appleModules.contains(argument) ? false : argument == "CoreData" ? true : nil
        case "targetEnvironment": return ["macCatalyst", "simulator"].contains(argument) ? false : nil
        default: return nil
        }
    }

    private static let applePlatforms: Set = ["macOS", "OSX", "iOS", "tvOS", "watchOS", "visionOS"]

    private static let appleModules: Set = [
        "UIKit", "AppKit", "SwiftUI", "Cocoa", "WatchKit", "CloudKit", "Combine", "ObjectiveC", "Darwin", "MapKit",
        "CoreLocation", "CoreGraphics", "CoreImage", "Contacts", "WidgetKit", "AppIntents", "CoreSpotlight",
    ]
}
