@echo off
rem TotalRecall launcher for Windows: finds the program and runs it, in the order of the one beside it, which is for sh.
rem Only totalrecall.exe is looked for, so it never finds itself or another launcher. docs/plugin.md says who calls it.
setlocal EnableExtensions EnableDelayedExpansion
set "TOTALRECALL_PLUGIN_VERSION=0.1.0"

rem Values are read with ! so that nothing in them is taken for a command.
set "PROGRAM="
set "PROBLEM="
if defined CLAUDE_PLUGIN_OPTION_BINARY (
    set "PROGRAM=!CLAUDE_PLUGIN_OPTION_BINARY!"
    if not exist "!PROGRAM!" set "PROBLEM=1"
    goto :found
)
if defined CLAUDE_PLUGIN_DATA if exist "!CLAUDE_PLUGIN_DATA!\bin\totalrecall.exe" (
    set "PROGRAM=!CLAUDE_PLUGIN_DATA!\bin\totalrecall.exe"
    goto :found
)
for %%I in (totalrecall.exe) do set "PROGRAM=%%~$PATH:I"
rem The folder of the session is a project, which may be anyone's.
if /i "!PROGRAM!"=="!CD!\totalrecall.exe" set "PROGRAM="
if not defined PROGRAM set "PROBLEM=1"

:found
if defined PROBLEM goto :missing
if not defined TOTALRECALL_HOME if defined CLAUDE_PLUGIN_OPTION_HOME set "TOTALRECALL_HOME=!CLAUDE_PLUGIN_OPTION_HOME!"
rem Arguments may hold a !, which is why expansion is off again when they are read.
setlocal DisableDelayedExpansion
"%PROGRAM%" %*
exit /b %ERRORLEVEL%

:missing
if /i not "%~1"=="hook" (
    echo totalrecall: the program is not installed; docs/plugin.md says how to get it 1>&2
    exit /b 127
)
if "%~2"=="SessionStart" call :once
if "%~2"=="UserPromptExpansion" echo {"hookSpecificOutput":{"hookEventName":"UserPromptExpansion","additionalContext":"The program of TotalRecall is not installed, or the one that is set cannot be found. Unpack a release archive for Windows after comparing it with its .sha256, or use cargo install; put totalrecall.exe on PATH or into bin in the data folder of the plugin."}}
exit /b 0

:once
if not defined CLAUDE_PLUGIN_DATA exit /b 0
if exist "!CLAUDE_PLUGIN_DATA!\setup\told" exit /b 0
mkdir "!CLAUDE_PLUGIN_DATA!\setup" 2>nul
echo told>"!CLAUDE_PLUGIN_DATA!\setup\told"
echo {"systemMessage":"The program of TotalRecall is not installed, so nothing is learned yet. /recall-setup says how to get it. This is said once."}
exit /b 0
