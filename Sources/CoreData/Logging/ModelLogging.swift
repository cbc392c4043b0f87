import Logging

/// The log of loading and merging models, for calls that can only return `nil`.
let modelLogger = Logger(label: "CoreData.Model")
