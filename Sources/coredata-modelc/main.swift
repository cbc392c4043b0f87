import CoreDataCodeGeneration
import CoreDataModel
import CoreDataPrimitives
import Foundation

// What the build-tool plugin runs for each model:
//
//     coredata-modelc Shop.xcdatamodeld --module Shop \
//         --compiled …/Shop.momd --classes …/Shop+CoreDataClasses.swift
//
// and for each mapping model:
//
//     coredata-modelc Shop1to2.xcmappingmodel --compiled …/Shop1to2.cdm
//
// Problems of the model are told as compilers tell theirs, so that a build shows them at their file and line.

do {
    try ModelTool(arguments: Array(CommandLine.arguments.dropFirst())).run()
} catch let failure as ModelFailure {
    ModelTool.report(failure.diagnostics)
    exit(1)
} catch let failure as UsageFailure {
    ModelTool.report([Diagnostic(.error, failure.message, hint: ModelTool.usage)])
    exit(64)
} catch {
    ModelTool.report([Diagnostic(.error, error.localizedDescription)])
    exit(1)
}
